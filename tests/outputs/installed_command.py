"""The command `spotsvm`, as the entry point of the installed package gives it."""

from importlib.metadata import entry_points

main = next(iter(entry_points(group="console_scripts", name="spotsvm"))).load()
