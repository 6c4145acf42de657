"""The table that Canvas imports into its gradebook.

Taken from its own importer and exporter, which say more than the pages for instructors
(github.com/instructure/canvas-lms, ``lib/gradebook_importer.rb``, ``_exporter.rb``):

- The columns are Student, ID, SIS User ID, SIS Login ID, Section; whatever follows is
  an assignment, found by its exact title, and made if there is none of that title.
- The row Points Possible says what each assignment is worth.
- A student is found by the first that fits: ID, which is Canvas's own number, SIS User
  ID, SIS Login ID, name. Text in ID is read up to its first letter, "12b" as 12.
- An empty cell is no grade, and takes away one that is there; Canvas shows what will
  change, and asks, before it does.
- UTF-8 and commas; Canvas writes no byte order mark unless told to.
"""

from collections.abc import Iterable

from autograder.gradebook.book import Book, Missing, totals, worth
from autograder.gradebook.grades import Grades
from autograder.gradebook.spreadsheet import number, words

COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"  # spaces and all, as Canvas writes it


def canvas_table(
    book: Book, people: Iterable[Grades], missing: Missing
) -> list[list[str]]:
    """Give the table; a student's id is the login with which Canvas knows them."""
    most = [number(sum(worth(class_).values())) for class_ in book.values()]
    rows = [[*COLUMNS, *map(words, book)], [POINTS_POSSIBLE, "", "", "", "", *most]]
    for each in people:
        found = [_name(each), *_ids(each), each.student, ""]
        rows.append(found + totals(book, each.student, missing))
    return rows


def _ids(one: Grades) -> list[str]:
    """Give ID and SIS User ID: a user id of digits alone is Canvas's own number."""
    own = one.lms_user_id.isascii() and one.lms_user_id.isdigit()
    return [one.lms_user_id, ""] if own else ["", one.lms_user_id]


def _name(one: Grades) -> str:
    """Give the name as Canvas lists it; the id where the gradebook has no name."""
    names = [name for name in (one.last_name, one.first_name) if name]
    name = words(", ".join(names) or one.student)
    # Canvas takes a row that begins with these words for the one above
    return "" if POINTS_POSSIBLE.strip() in name else name
