"""``python -m autograder.adapters SYSTEM …``: what a package calls where it runs."""

import sys

from autograder.adapters.systems import SYSTEMS

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SYSTEMS:
        sys.exit(f"name a system: {', '.join(SYSTEMS)}")
    sys.exit(SYSTEMS[sys.argv[1]].run(sys.argv[2:]))
