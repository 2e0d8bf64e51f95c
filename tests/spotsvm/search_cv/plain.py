"""The arguments with which SpotSearchCV scores one candidate for each suggestion, on the given folds alone."""

PLAIN = {"profile": None, "confirm": None, "criterion": "score", "start": []}
