"""What all studies share: `Experiment` and its report, tables, data sets, files of runs, paired tests, simulated workers.

It may import everything of spotsvm, and no study.
"""
