"""Subwords of two languages, as the token ids that a model reads and writes.

One vocabulary serves both languages, so that a name is the same tokens on both sides.
The subwords are those of ``course_lib.bpe``, learned by ``course_lib.fast_bpe``; what
may be done to a text before and after is in ``course_lib.preprocessing``.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course_lib.bpe import END_OF_WORD, decode, word_counts
from course_lib.fast_bpe import train_bpe_fast, word_encoder
from course_lib.preprocessing import Preprocessing, Truecaser

PADDING_ID, START_ID, END_ID, UNKNOWN_ID = range(4)
SPECIAL_TOKENS = ("<padding>", "<start>", "<end>", "<unknown>")
# What is decoded where a character was not in the training texts.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class SubwordTokenizer:
    """Turns texts into token ids and back.

    symbols : the single characters, at a word's end and elsewhere; no merge made them
    merges : the learned pairs, in the order in which they were learned
    preprocessing : what is done to texts before, and undone after decoding; None for
        texts as they are, which one tokenizer may read in both languages
    """

    symbols: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    preprocessing: Preprocessing | None = None

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The token of each id: the special ones, the symbols, what merges make."""
        merged = (left + right for left, right in self.merges)
        return (*SPECIAL_TOKENS, *dict.fromkeys([*self.symbols, *merged]))

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def fingerprint(self) -> str:
        """Short text that differs where two vocabularies differ."""
        text = json.dumps(self.as_data(), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def tokenize(self, text: str) -> list[str]:
        """Split a source into tokens, those that have no token id included."""
        if self.preprocessing:
            text = self.preprocessing.prepare_source(text)
        return self._split_into_tokens(text)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source's tokens, without start and end.

        A character that no training text had becomes ``UNKNOWN_ID``; a text without
        words gives an empty list.
        """
        return self._ids(self.tokenize(text))

    def encode_target(self, text: str) -> list[int]:
        """Return the ids of a target's tokens; without preprocessing, as ``encode``."""
        if self.preprocessing:
            text = self.preprocessing.prepare_target(text)
        return self._ids(self._split_into_tokens(text))

    def _ids(self, tokens: Iterable[str]) -> list[int]:
        return [self._token_ids.get(token, UNKNOWN_ID) for token in tokens]

    def decode(self, token_ids: Iterable[int]) -> str:
        """Return the target of token ids, without padding, start and end.

        ``UNKNOWN_ID`` becomes the replacement character. Raises ``IndexError`` for an
        id that no token has.
        """
        tokens = []
        for token_id in token_ids:
            if token_id == UNKNOWN_ID:
                tokens.append(REPLACEMENT)
            elif token_id >= len(SPECIAL_TOKENS):
                tokens.append(self.vocabulary[token_id])
        text = decode(tokens)
        return self.preprocessing.restore_target(text) if self.preprocessing else text

    def as_data(self) -> dict[str, Any]:
        """Return what makes this tokenizer, as plain lists and dictionaries of text."""
        data: dict[str, Any] = {
            "symbols": list(self.symbols),
            "merges": [list(pair) for pair in self.merges],
        }
        if self.preprocessing:
            data["preprocessing"] = {
                side: {name: sorted(words) for name, words in vars(truecaser).items()}
                for side, truecaser in vars(self.preprocessing).items()
            }
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "SubwordTokenizer":
        """Make a tokenizer from the result of ``as_data``."""
        merges = tuple((left, right) for left, right in data["merges"])
        preprocessing = None
        if "preprocessing" in data:
            truecasers = {
                side: Truecaser(**{name: frozenset(words[name]) for name in words})
                for side, words in data["preprocessing"].items()
            }
            preprocessing = Preprocessing(**truecasers)
        return cls(tuple(data["symbols"]), merges, preprocessing)

    @cached_property
    def _token_ids(self) -> dict[str, int]:
        first = len(SPECIAL_TOKENS)  # no text is ever read as one of these
        return {token: i for i, token in enumerate(self.vocabulary[first:], first)}

    @cached_property
    def _split_into_tokens(self) -> Callable[[str], list[str]]:
        return word_encoder(self.merges)


def train_tokenizer(
    texts: Sequence[str], vocab_size: int, preprocessing: Preprocessing | None = None
) -> SubwordTokenizer:
    """Learn subwords from the texts of all languages together.

    texts : what is to be read and written, in training, prepared if there is
        preprocessing
    vocab_size : number of tokens at most, the special ones included

    Returns the tokenizer; its vocabulary is smaller if no pair is left that occurs
    twice. With a vocab_size of 0 the tokens are single characters.

    >>> train_tokenizer(["to eat", "zu essen"], 0).decode([])
    ''
    """
    words = word_counts(" ".join(texts))
    characters = {symbol.removesuffix(END_OF_WORD) for word in words for symbol in word}
    # Both forms of each: a character that never ended a word in training may end one
    # that is translated later.
    symbols = sorted(characters | {each + END_OF_WORD for each in characters})
    n_merges = max(vocab_size - len(SPECIAL_TOKENS) - len(symbols), 0)
    merges = train_bpe_fast(words, n_merges)
    return SubwordTokenizer(tuple(symbols), tuple(merges), preprocessing)


def train_pair_tokenizer(
    pairs: Sequence[tuple[str, str]], vocab_size: int
) -> SubwordTokenizer:
    """Learn the case of words and then subwords, from sources and targets.

    vocab_size : as for ``train_tokenizer``
    """
    preprocessing = Preprocessing.learn(pairs)
    texts = [
        prepared
        for source, target in pairs
        for prepared in (
            preprocessing.prepare_source(source),
            preprocessing.prepare_target(target),
        )
    ]
    return train_tokenizer(texts, vocab_size, preprocessing)
