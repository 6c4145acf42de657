"""Make archives of submissions as Canvas and Moodle give them, for an odd class.

What the two programs do to names is done here as they do it, not as it is read.
"""

import re
import struct
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.submissions import LESSON

PACKED = datetime(2026, 3, 9, 8, 0, tzinfo=UTC)


class Learner(NamedTuple):
    """A student: login, names, Canvas's number."""

    login: str
    first: str
    last: str
    number: int

    @property
    def in_canvas(self):
        """Name as Canvas writes it: ``sortable_name``, without what is no word."""
        return re.sub(r"\W", "", f"{self.last}, {self.first}".lower())

    @property
    def in_moodle(self):
        """Name as Moodle writes it: ``fullname`` after ``clean_filename``."""
        name = f"{self.first} {self.last}".replace("_", " ")
        return re.sub(r"[\x00-\x1f&<>\"`|':\\/]", "", name)


NAMES = """
Anna Schmidt|Björn Müller|Zoë Bauer-Großmann|Seán O'Brien|José de la Cruz Núñez|李 小龍
Ольга Иванова|محمد الأحمد|Ngọc Nguyễn Thị|Łukasz Żółć|İpek Yılmaz|Søren Ærøskøbing
Jean-Luc D'Arc|Mary Ann Lee|Marian Nlee|X Æ|Renée Ångström|Þór Ðæmon|Ana María Peña
R2 D2|Kim 3|Late Later|Anon Anonymous|Ωmega Papadópoulos|अनिता शर्मा|김 민수|Noël L_Low
Amira Ben Ali|Ali Amira Ben|Chloë St. John|Per Åke|Wu Wei|Vu Duc|Ida B. Wells
""".strip()
CLASS = [
    Learner(f"s{index:02}", *name.split(" ", 1), 1000 + index)
    for index, name in enumerate(re.split(r"[|\n]", NAMES))
]


def canvas_name(learner, attachment, name=f"{LESSON}.ipynb", late=False):
    parts = [learner.in_canvas, "LATE" if late else None, learner.number, attachment]
    return "_".join(str(part) for part in [*parts, name] if part is not None)


def moodle_folder(learner, participant, name=f"{LESSON}.ipynb"):
    return f"{learner.in_moodle}_{participant}_assignsubmission_file_/{name}"


def moodle_flat(learner, participant, name=f"{LESSON}.ipynb"):
    return f"{learner.in_moodle}_{participant}_assignsubmission_file_{name}"


class Unsaid(zipfile.ZipInfo):
    """An entry whose name is UTF-8 and does not say so."""

    def _encodeFilenameFlags(self):
        return self.filename.encode(), self.flag_bits & ~0x800


def write_zip(path: Path, files, *, utc=True, kind=zipfile.ZipInfo):
    """Write an archive of (name, bytes, time) rows, in their order.

    utc : whether entries say their time in UTC, as Ruby's do, or only as a clock shows
    kind : class of the entries
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw, moment in files:
            info = kind(name, moment.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            if utc:
                seconds = int(moment.timestamp())
                info.extra = struct.pack("<HHBi", 0x5455, 5, 1, seconds)
            archive.writestr(info, raw)
    return path


def moments(count, hours=5):
    """Return a time for each of so many submissions, the last at ``PACKED``."""
    return [PACKED - timedelta(hours=hours * (count - 1 - i)) for i in range(count)]
