"""Early stopping of trials: whether a search reaches the same value in fewer steps."""
