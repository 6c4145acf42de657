"""The command line: the only package that imports all the others."""
