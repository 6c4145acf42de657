"""Run the cells of a lesson as its page does, in a process with what a page has.

``python -I -S bare_cells.py FOLDER SITE_PACKAGES < cells`` reads the steps of a page as
JSON and prints what each cell shows. It imports nothing of the course before it has
shut out everything but NumPy and matplotlib.
"""

import json
import sys

DRAWING = {"matplotlib", "mpl_toolkits", "PIL", "contourpy", "cycler", "kiwisolver"}
DRAWING |= {"packaging", "pyparsing", "dateutil", "six"}
DRAWING |= {"fontTools", "unicodedata2"}  # from matplotlib 3.10 on


def main(folder, packages):
    """Print what the cells that run show, by id."""
    sys.path += [folder, packages]
    from bare import ABSENT, ALLOWED, Refusing

    ABSENT.discard("ctypes.util")
    ALLOWED.update(DRAWING)
    sys.meta_path.insert(0, Refusing())
    from autograder.book.in_page.cells import run_json

    results, above = {}, {}
    for step in json.load(sys.stdin):
        if step.get("exercise"):
            above[step["exercise"]] = ""
        elif "id" in step and "needs" not in step:
            request = {"cell": step["id"], "text": step["text"], "answers": above}
            results[step["id"]] = json.loads(run_json(json.dumps(request)))
    print(json.dumps(results))


if __name__ == "__main__":
    sys.path.append(__file__.rpartition("/")[0])
    main(*sys.argv[1:])
