"""What is done to a text before byte-pair encoding: punctuation apart, case made even.

"Tür", "Tür." and "Tür-" are three words to ``course_lib.bpe``, and "Battery" is another
one than "battery". Here punctuation becomes tokens of its own, with a joiner where
there was no space, and the first word of a sentence gets the case that it has
elsewhere. Both are undone after decoding.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

# Marks the side on which a token touches its neighbour, as in OpenNMT's tokenizer.
JOINER = "\N{HALFWIDTH BLACK SQUARE}"
STAND_IN = "\N{BLACK SQUARE}"  # for a joiner that is in a text
IS_PUNCTUATION = regex.compile(r"[\p{P}\p{S}]")
PIECES = regex.compile(
    r"""
      (?<=\p{L})'\p{L}+        # the end of "device's"
    | ([\p{P}\p{S}])\1*        # "-", "..."
    | [^\p{P}\p{S}]+           # a word, a number
    """,
    regex.VERBOSE,
)
SENTENCE_ENDS = {".", "!", "?"}


def separate_punctuation(text: str) -> str:
    """Make punctuation tokens of its own, with joiners where there was no space.

    text : white space counts as single spaces; a joiner in it becomes ``STAND_IN``

    Returns the tokens with spaces between.
    Source: Klein et al. (2017), OpenNMT: Open-Source Toolkit for Neural Machine
    Translation; Moses' tokenizer writes ``@-@``.

    >>> separate_punctuation('The "Wi-Fi" is off.')
    'The "￭ Wi ￭-￭ Fi ￭" is off ￭.'
    """
    tokens: list[str] = []
    for word in text.replace(JOINER, STAND_IN).split():
        for i, match in enumerate(PIECES.finditer(word)):
            piece = match[0]
            if i and IS_PUNCTUATION.match(piece):
                piece = JOINER + piece
            elif i:  # two words never touch: there is punctuation before
                tokens[-1] += JOINER
            tokens.append(piece)
    return " ".join(tokens)


def join_punctuation(text: str) -> str:
    """Undo ``separate_punctuation``; a joiner with nothing at its side goes as well.

    >>> join_punctuation('The "￭ Wi ￭-￭ Fi ￭" is off ￭.')
    'The "Wi-Fi" is off.'
    """
    return regex.sub(f"(?: ?{JOINER})+ ?", "", text)


def first_words(tokens: list[str]) -> Iterator[int]:
    """Yield where the first word of each sentence stands.

    tokens : as ``separate_punctuation`` makes them

    >>> [*first_words(['"￭', "Off", "￭.", "It", "is", "off", "￭.￭", "de"])]
    [1, 3]
    """
    begins = True
    for i, token in enumerate(tokens):
        mark = token.strip(JOINER)
        if not IS_PUNCTUATION.match(mark):
            if begins and mark:
                yield i
                begins = False
        elif mark in SENTENCE_ENDS and not token.endswith(JOINER):
            begins = len(tokens[i - 1]) > 1  # not after the letters of "z. B."


@dataclass(frozen=True)
class Truecaser:
    """Gives the first word of a sentence the case that it has elsewhere.

    lower : words that begin with a small letter more often than with a capital, where
        they are not the first of a sentence
    upper : words that are in capitals throughout more often than not
    """

    lower: frozenset[str] = frozenset()
    upper: frozenset[str] = frozenset()

    @classmethod
    def learn(cls, texts: Iterable[str]) -> "Truecaser":
        """Count how words are written in texts of one language.

        Source: Koehn et al. (2007), Moses, whose ``train-truecaser`` counts likewise.

        >>> Truecaser.learn(["The fan is on", "Is the fan on"]).lower == {
        ...     "fan", "is", "on", "the"
        ... }
        True
        """
        counts: Counter[str] = Counter()
        for text in texts:
            tokens = separate_punctuation(text).split()
            first = {*first_words(tokens)}
            counts.update(token for i, token in enumerate(tokens) if i not in first)
        letters: Counter[str] = Counter()  # of all spellings together
        for word, count in counts.items():
            letters[word.lower()] += count
        return cls(
            frozenset(
                word
                for word, count in counts.items()
                if word.islower() and count > counts[_capitalised(word)]
            ),
            frozenset(
                word
                for word, count in counts.items()
                if word.isupper() and 2 * count > letters[word.lower()]
            ),
        )

    def truecase(self, text: str) -> str:
        """Lower the first words of sentences where they are lower elsewhere.

        text : as ``separate_punctuation`` returns it. A word with a capital behind its
            first letter (USB, pH) stays as it is.

        >>> Truecaser(frozenset(["the"])).truecase("The USB port")
        'the USB port'
        """
        tokens = text.split()
        for i in first_words(tokens):
            lowered = tokens[i][:1].lower() + tokens[i][1:]
            if lowered in self.lower:
                tokens[i] = lowered
        return " ".join(tokens)

    def lower_capitals(self, text: str) -> str:
        """Write a text of several words in capitals as others are written.

        Words that are in capitals elsewhere too stay as they are.

        >>> Truecaser(upper=frozenset(["USB"])).lower_capitals("USB PORT OPEN")
        'USB port open'
        """
        tokens = text.split()
        if not text.isupper() or len(tokens) < 2:
            return text
        return " ".join(
            token if token in self.upper else token.lower() for token in tokens
        )

    def restore(self, text: str) -> str:
        """Capitalise the first words of sentences again.

        text : as ``truecase`` returns it. A word with a capital behind its first letter
            stays as it is.

        >>> Truecaser().restore("pH-Wert ￭. zu hoch")
        'pH-Wert ￭. Zu hoch'
        """
        tokens = text.split()
        for i in first_words(tokens):
            if tokens[i][1:] == tokens[i][1:].lower():
                tokens[i] = _capitalised(tokens[i])
        return " ".join(tokens)


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


@dataclass(frozen=True)
class Preprocessing:
    """What is done to the texts of two languages, and undone after decoding.

    source, target : what is known about the case of words in each
    """

    source: Truecaser
    target: Truecaser

    @classmethod
    def learn(cls, pairs: Iterable[tuple[str, str]]) -> "Preprocessing":
        """Learn the case of words from pairs of texts."""
        sources, targets = zip(*pairs, strict=True)
        return cls(Truecaser.learn(sources), Truecaser.learn(targets))

    def prepare_source(self, text: str) -> str:
        """Prepare what is to be translated; capitals throughout count as none."""
        return self.source.truecase(
            self.source.lower_capitals(separate_punctuation(text))
        )

    def prepare_target(self, text: str) -> str:
        """Prepare what is to be written."""
        return self.target.truecase(separate_punctuation(text))

    def restore_target(self, text: str) -> str:
        """Undo ``prepare_target``.

        A sentence that began with a small letter begins with a capital then, unless a
        capital follows in its first word (pH).
        """
        return join_punctuation(self.target.restore(text))
