"""The table that Moodle imports into its gradebook.

Taken from docs.moodle.org/en/Grade_import and from the importer itself
(github.com/moodle/moodle, ``grade/import/csv/classes/load_data.php``):

- The instructor says which column finds the student (user name, ID number or email
  address) and which column is which grade item; other columns are ignored.
- "-" is no grade. An empty cell is one too in an item that exists, but 0 in a new one.
- A row whose cell for finding the student is empty, or "0", goes to the student of the
  row *above*. Hence such a column is there only if everybody has a value.
- One student whom Moodle does not know stops the import; nothing is changed then.
- Feedback that is imported without its grade takes the grade away: there is none here.
- UTF-8 and commas, as its own exports have it; a byte order mark is dropped.
"""

from collections.abc import Sequence

from autograder.gradebook.book import Book, Missing, totals
from autograder.gradebook.grades import Grades
from autograder.gradebook.spreadsheet import words

NO_GRADE = "-"


def moodle_table(
    book: Book, people: Sequence[Grades], missing: Missing
) -> list[list[str]]:
    """Give the table; a student's id is the user name in Moodle."""
    columns = {
        "Username": [each.student for each in people],
        "First name": [words(each.first_name) for each in people],
        "Last name": [words(each.last_name) for each in people],
    }
    for head, values in (
        ("ID number", [each.lms_user_id for each in people]),
        ("Email address", [words(each.email) for each in people]),
    ):
        if not {"", "0"} & {*values}:
            columns[head] = values
    rows = [[*columns, *map(words, book)]]
    for each, *found in zip(people, *columns.values(), strict=True):
        points = totals(book, each.student, missing)
        rows.append([*found, *(point or NO_GRADE for point in points)])
    return rows
