"""The commands of `spotsvm`, one a file."""
