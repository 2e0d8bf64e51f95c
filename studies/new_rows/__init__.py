"""Error of tuned estimators on new rows, compared with other models, at equal processor time."""
