"""Who of the gradebook's students somebody in an archive is: by number, login or name.

A wrong student is worse than none: where two could be meant, nobody is, and the
sentence says what to enter in the gradebook.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.gradebook.archives import ArchivedFile
from autograder.gradebook.grades import Person

Owner = tuple[str, str, str]  # see ``ArchivedFile.owner``


def simplified(name: str) -> str:
    """Return a name without what systems write in different ways.

    >>> simplified("O’Brien, Zoë-Ann"), simplified("obrienzoeann")
    ('obrienzoeann', 'obrienzoeann')
    """
    letters = unicodedata.normalize("NFKD", name)
    bare = "".join(each for each in letters if not unicodedata.combining(each))
    return "".join(each for each in bare.casefold() if each.isalnum())


def _names_of(person: Person) -> set[str]:
    """Return how a system may write who this is, simplified."""
    first, last = person.first_name, person.last_name
    names = {person.id}
    if first or last:
        names |= {last + first, first + last, person.id + first + last}
    return {simplified(name) for name in names} - {""}


@dataclass(frozen=True)
class Match:
    """Whom a person of the archive is taken for.

    student : the id, "" for nobody
    reason : why nobody, in a sentence
    """

    student: str = ""
    reason: str = ""


def match_people(
    files: Sequence[ArchivedFile], roster: Sequence[Person]
) -> dict[Owner, Match]:
    """Return for each person of an archive which student that is."""
    by_number = _index(roster, lambda each: {each.lms_user_id} - {""})
    by_name = _index(roster, _names_of)
    people = {file.owner: file for file in files}
    # Moodle's number is another one in each assignment. Where some numbers are those of
    # the gradebook, a student's other number says that this is somebody else.
    known = {each.id for each in roster if each.lms_user_id.isdecimal()}
    canvas = {file.number for file in people.values() if file.system == "Canvas"}
    elsewhere = known if canvas & {*by_number} else set()
    matches: dict[Owner, Match] = {}
    claims: dict[str, dict[Owner, bool]] = defaultdict(dict)
    for owner, file in people.items():
        numbered, named = [], by_name.get(simplified(file.person), [])
        if file.system == "Canvas":
            numbered = by_number.get(file.number, [])
            named = [each for each in named if each not in elsewhere]
        students = numbered or named
        if len(students) == 1:
            claims[students[0]][owner] = bool(numbered)
        else:
            matches[owner] = Match(reason=_nobody(file, students))
    for student, owners in claims.items():
        certain = [owner for owner, numbered in owners.items() if numbered]
        chosen = certain or [*owners]
        for owner in owners:
            if chosen == [owner]:
                matches[owner] = Match(student)
            else:
                matches[owner] = Match(reason=_several(owner, student))
    return matches


def _index(
    roster: Sequence[Person], keys: Callable[[Person], set[str]]
) -> dict[str, list[str]]:
    """Return the students' ids by what they may be called."""
    index: dict[str, list[str]] = defaultdict(list)
    for each in roster:
        for key in keys(each):
            index[key].append(each.id)
    return index


def person_in_words(owner: Owner) -> str:
    """Return a person as the archive calls them, with the number."""
    system, person, number = owner
    return f"{person or 'somebody without a name'} ({system}'s number {number})"


def _nobody(file: ArchivedFile, students: Sequence[str]) -> str:
    person = person_in_words(file.owner)
    if students:
        return f"{person} may be {' or '.join(students)}: {_remedy(file.system)}"
    if not file.person:
        return (
            f"{person}: the assignment is marked anonymously; download the archive "
            "once names are shown"
        )
    return f"{person} is nobody in the gradebook: {_remedy(file.system)}"


def _several(owner: Owner, student: str) -> str:
    return (
        f"{person_in_words(owner)} is not the only one who may be {student}: "
        f"{_remedy(owner[0])}"
    )


def _remedy(system: str) -> str:
    if system == "Canvas":
        return "enter that number as the student's lms_user_id, and call again"
    return (
        "enter the student's name as Moodle writes it, or put the notebook into "
        "submitted/ by hand"
    )
