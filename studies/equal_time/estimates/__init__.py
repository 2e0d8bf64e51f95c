"""What to spend the time of tuning on: settings, or partitions of the rows into folds."""
