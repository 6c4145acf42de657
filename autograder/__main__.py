"""``python -m autograder``: the command line, where the script is not on the path."""

from autograder.commands.app import run

run()
