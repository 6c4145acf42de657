"""What comes before pytest's other plugins: one thread for each process, no grammars.

``make test`` loads it first (``-p tests.early``), and each process of its tests does.
"""

import os

# Tests share the processors by processes. Several threads in each of them wait for one
# another: on two processors the banks of two exercises (`-n 2 -k "cross_entropy or
# encoder_layer"`) took 40 s with them and 26 s without.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import autograder  # noqa: E402, F401  # nbval's nbformat would compile grammars: 1.3 s
