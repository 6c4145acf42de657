"""Choose which cells of a rebuilt notebook run.

Set-up, answers and the learner's own cells do, checks never. A demonstration runs only
if something that runs needs a name from it. Which names a cell needs is ``names``'.
"""

import builtins
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from .names import Names, names_of

ALWAYS = {"setup", "solution", "own"}
PYTHONS = frozenset(dir(builtins))


def chosen(cells: Sequence[tuple[str, str]]) -> list[int]:
    """Give the places of the cells that run, in order.

    cells : role and source of each, in the order of the notebook
    """
    found = [names_of(text) if role != "check" else Names() for role, text in cells]
    roles = [role for role, _ in cells]
    binders: dict[str, list[int]] = defaultdict(list)
    for place, names in enumerate(found):
        for name in names.binds:
            binders[name].append(place)
    for place in _hiding(roles, found, binders):
        roles[place] = "left out"
        for name in found[place].binds:
            binders[name].remove(place)
    running = {place for place, role in enumerate(roles) if role in ALWAYS}
    waiting = sorted(running)
    while waiting:
        place = waiting.pop()
        for name in found[place].needs - PYTHONS:
            giver = _giver(place, binders.get(name, []), running)
            if giver is not None and giver not in running:
                running.add(giver)
                waiting.append(giver)
    return [place for place in sorted(running) if not found[place].empty]


def _giver(place: int, binders: list[int], running: set[int]) -> int | None:
    """Say which cell gives a name to the one at a place.

    The last above that binds it, as in the notebook. Without one, a cell below that
    runs anyhow, else the first demonstration below.
    """
    at = bisect_left(binders, place)
    if at:
        return binders[at - 1]
    for binder in binders:
        if binder in running and binder != place:
            return binder
    return next((binder for binder in binders if binder != place), None)


def _hiding(
    roles: Sequence[str], found: Sequence[Names], binders: Mapping[str, Sequence[int]]
) -> list[int]:
    """Give the places of stubs that would only hide an answer further above.

    Who writes an answer into a cell of their own often leaves the stub below it.
    """

    def answers(name: str, place: int) -> bool:
        return roles[place] in ALWAYS and name not in found[place].stubs

    return [
        place
        for place, names in enumerate(found)
        if roles[place] == "solution"
        and names.stubs
        and all(
            any(answers(name, above) for above in binders[name] if above < place)
            for name in names.stubs
        )
    ]
