"""The tuning tasks on which searches are compared: functions, support vector machines, a stormwater tank.

It may import `spotsvm.studies.common` and everything of spotsvm, and no study.
"""
