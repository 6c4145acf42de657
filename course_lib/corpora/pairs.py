"""What the sequence tasks are made of: a text and what it is to become."""

from typing import NamedTuple


class Pair(NamedTuple):
    """One example of a task from sequence to sequence.

    source : what the encoder reads
    target : what the decoder is to write
    """

    source: str
    target: str
