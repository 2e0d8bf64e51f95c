"""`python -m spotsvm`: the command `spotsvm` of the Python that runs it."""

from spotsvm.commands.main import main

if __name__ == "__main__":
    main()
