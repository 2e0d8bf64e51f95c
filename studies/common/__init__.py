"""The parts that all studies share: `Experiment` and its report, jobs, tables, data sets, paired tests, simulated workers."""
