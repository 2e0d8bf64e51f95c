"""What scores tell: metrics, intervals, spread and bias over folds, the optimism of a tuned score.

It may import common.
"""
