"""The tests of other people's courses, run on ours: adapters, and none of their code.

``python -m tests.peers cs336 FOLDER`` and ``python -m tests.peers minbpe FOLDER`` run
the tests of github.com/stanford-cs336/assignment1-basics and github.com/karpathy/minbpe
in a copy of a clone, with an adapter instead of what a student writes. What the
course does not have is skipped, and so is what needs packages that are not installed.
"""
