"""Support vector machines whose kernel is evolved by genetic programming."""
