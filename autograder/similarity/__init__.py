"""Which students' answers are alike beyond what a class and its lesson have in common.

``answers`` reads what is compared, ``tokens`` makes it independent of names and
layout, ``dolos`` finds what answers share, ``pairs`` weighs it against the class,
``page`` shows it. Nothing here judges anybody.
"""
