"""Judge mutants: ``python -m tests.mutants [exercise …]``, ``make mutants`` for all."""

import sys

from autograder.checking.registry import exercise_names, load
from tests.mutants import LIST, is_installed, listed, mutants, survives


def main(names: list[str]) -> int:
    """Print mutants, killed and survivors; return 1 if the list is about others."""
    if unknown := {*names} - {*exercise_names()}:
        raise SystemExit(f"no exercise {min(unknown)!r}: see `autograder matrix`")
    if not is_installed:
        raise SystemExit("cosmic-ray is not installed: call `make mutants` once")
    known, n_mutants, survivors = listed(), 0, []
    for name in names or exercise_names():
        exercise = load(name)
        if exercise.is_test:
            print(f"{name}: none, a test with another seed or size is as good a test")
            continue
        made = list(mutants(exercise))
        alive = [mutant for mutant in made if survives(exercise, mutant.text)]
        n_mutants, survivors = n_mutants + len(made), survivors + alive
        killed = len(made) - len(alive)
        in_bank = sum(bool(each.misconception) for each in made)
        print(
            f"{name}: {len(made)} mutants ({in_bank} of them misconceptions of the "
            f"bank), {killed} killed, {len(alive)} survive",
            flush=True,
        )
        for mutant in alive:
            kind, why = known.get(mutant.key, ("not listed", "equivalent, or missing?"))
            print(f"  - {mutant.line}\n  + {mutant.becomes}\n      {kind}: {why}")
            if same := mutant.misconception:
                print(f"      the bank's {same} has the same code")
    alive_keys = {mutant.key for mutant in survivors}
    stale = [
        key
        for key in known
        if key[0] in (names or exercise_names()) and key not in alive_keys
    ]
    for name, line, becomes in stale:
        print(f"{name}: in the list, and survives no more\n  - {line}\n  + {becomes}")
    n_new = len(alive_keys - {*known})
    print(
        f"{n_mutants} mutants, {len(survivors)} survive; {n_new} of them are not in "
        f"{LIST.name}, {len(stale)} of those in it survive no more"
    )
    return int(bool(n_new or stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
