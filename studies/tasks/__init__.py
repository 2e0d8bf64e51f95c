"""The tuning tasks on which searches are compared: functions, support vector machines, a stormwater tank."""
