"""Word pieces of two languages, as the numbers that a model reads and writes.

One vocabulary serves for both languages, so that a name is the same tokens on both
sides. The pieces are those of ``course_lib.bpe``, learned by ``course_lib.fast_bpe``.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_lib.bpe import END_OF_WORD, decode, word_counts
from course_lib.fast_bpe import Pair, train_bpe_fast, word_encoder

PADDING, START, END, UNKNOWN = range(4)
SPECIAL = ("<padding>", "<start>", "<end>", "<unknown>")
# What is written where a character was not in the training texts.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Subwords:
    """Turns texts into numbers and back.

    symbols : the single characters, at a word's end and elsewhere; no merge made them
    merges : the learned pairs, in the order in which they were learned
    """

    symbols: tuple[str, ...]
    merges: tuple[Pair, ...]

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The token of each number: the special ones, the symbols, what merges make."""
        made = (left + right for left, right in self.merges)
        return (*SPECIAL, *dict.fromkeys([*self.symbols, *made]))

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def fingerprint(self) -> str:
        """Short text that differs where two vocabularies differ."""
        text = json.dumps(self.as_data(), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def pieces(self, text: str) -> list[str]:
        """Give the tokens of a text, those that have no number included."""
        return self._encoder(text)

    def encode(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens, without start and end.

        A character that no training text had is the number ``UNKNOWN``; a text without
        words gives an empty list.
        """
        return [self._numbers.get(token, UNKNOWN) for token in self._encoder(text)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Give the text of tokens; padding, start and end leave nothing in it.

        ``UNKNOWN`` becomes the replacement character. Raises ``IndexError`` for a
        number that no token has.
        """
        found = []
        for number in numbers:
            if number == UNKNOWN:
                found.append(REPLACEMENT)
            elif number >= len(SPECIAL):
                found.append(self.tokens[number])
        return decode(found)

    def as_data(self) -> dict[str, Any]:
        """Give what makes this vocabulary, as lists of text."""
        return {
            "symbols": list(self.symbols),
            "merges": [list(pair) for pair in self.merges],
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Subwords":
        """Make a vocabulary of what ``as_data`` gave."""
        merges = tuple((left, right) for left, right in data["merges"])
        return cls(tuple(data["symbols"]), merges)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        special = len(SPECIAL)  # no text is ever read as one of these
        return {token: n for n, token in enumerate(self.tokens[special:], special)}

    @cached_property
    def _encoder(self) -> Any:
        return word_encoder(self.merges)


def learn_subwords(texts: Sequence[str], vocab_size: int) -> Subwords:
    """Learn word pieces from the texts of all languages together.

    texts : what is to be read and written, in training
    vocab_size : number of tokens at most, the special ones included

    Returns the vocabulary; it is smaller if no pair is left that occurs twice. With a
    vocab_size of 0 the tokens are single characters.

    >>> learn_subwords(["to eat", "zu essen"], 0).decode([])
    ''
    """
    words = word_counts(" ".join(texts))
    characters = {symbol.removesuffix(END_OF_WORD) for word in words for symbol in word}
    # Both forms of each: one seen within words only may end a word of tomorrow.
    symbols = sorted(characters | {each + END_OF_WORD for each in characters})
    room = max(vocab_size - len(SPECIAL) - len(symbols), 0)
    merges = train_bpe_fast(words, room)
    return Subwords(tuple(symbols), tuple(merges))
