"""What a study survives and how fast it is: kills, throughput, a simulated cluster, large records.

It may import `spotsvm.studies.common` and everything of spotsvm, and no other study.
"""
