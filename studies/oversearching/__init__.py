"""How much of a tuned score is luck: the optimism of searches, and the coverage of its intervals.

It may import `spotsvm.studies.common`, `spotsvm.studies.tasks` and everything of spotsvm.
"""
