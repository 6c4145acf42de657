"""Whether a wheel for more packages is whole: references judged with it alone.

``python -I -S bare_offer.py WHEEL SITE_PACKAGES NAME…`` prints which are solved.
"""

import json
import sys


def main(wheel, packages, *names):
    """Print by exercise whether its reference solves it."""
    sys.path += [wheel, packages]
    from autograder.book.in_page.check import report_of
    from autograder.checking.registry import load

    def solved(exercise):
        # A function of its own: the course's version would not be judged.
        def answer(*arguments, **keywords):
            return exercise.expected_function(*arguments, **keywords)

        return report_of(exercise, answer).result.solved

    print(json.dumps({name: solved(load(name)) for name in names}))


if __name__ == "__main__":
    main(*sys.argv[1:])
