"""Any text in tokens (lesson 06): one question in eight languages, and what is typed.

The page encodes what its reader types; in a notebook the learner's ``encode_word`` is
asked as well.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.byte_bpe import BYTE_OF, byte_vocabulary, pre_tokens, spell_bytes
from course_lib.fast_bpe import byte_encoder
from course_lib.lessons.own_parts import is_missing, raised

Merges = Sequence[tuple[str, str]]
EncodeWord = Callable[[tuple[str, ...], list[tuple[str, str]]], list[str]]

TEXTS = {
    "English": "Where did I leave my umbrella?",
    "German": "Wo habe ich meinen Regenschirm gelassen?",
    "Greek": "Πού άφησα την ομπρέλα μου;",
    "Russian": "Где я оставил свой зонт?",
    "Arabic": "أين تركت مظلتي؟",
    "Chinese": "我把雨伞忘在哪里了？",
    "Korean": "내 우산을 어디에 두었지?",
    "emoji": "☂️❓ 🤷🏽 👨‍👩‍👧 🌧️",
}


def tokens(
    vocabularies: Mapping[str, Merges], encode_word: EncodeWord | None = None
) -> dict[str, Any]:
    """Return what ``figures.text_tokens`` draws for ``TEXTS``.

    vocabularies : what merges were learned from, to the merges, in symbols of
        ``byte_bpe.ALPHABET``
    encode_word : the learner's own; what is typed is given to it, too
    """
    encode = byte_encoder(next(iter(vocabularies.values())))
    return {
        "texts": TEXTS,
        "tokens": {name: [*map(_bytes, encode(text))] for name, text in TEXTS.items()},
        "vocabularies": {
            name: pairs_of_ids(merges) for name, merges in vocabularies.items()
        },
        "answer": None
        if encode_word is None
        else _answering(vocabularies, encode_word),
    }


def pairs_of_ids(merges: Merges) -> list[tuple[int, int]]:
    """Return merges as token ids: what is joined is the first token of that text.

    >>> pairs_of_ids([("a", "t"), ("m", "at")])
    [(97, 116), (109, 256)]
    """
    first: dict[str, int] = {}
    for token_id, token in enumerate(byte_vocabulary(merges)):
        first.setdefault(token, token_id)
    return [(first[left], first[right]) for left, right in merges]


def _bytes(token: str) -> bytes:
    return bytes(BYTE_OF[symbol] for symbol in token)


def _answering(
    vocabularies: Mapping[str, Merges], encode_word: EncodeWord
) -> Callable[[dict[str, str]], dict[str, Any]]:
    """Return a function of what was typed: the token ids by the learner's function."""
    ids = {
        name: {
            token: token_id for token_id, token in enumerate(byte_vocabulary(merges))
        }
        for name, merges in vocabularies.items()
    }

    def answer(question: dict[str, str]) -> dict[str, Any]:
        if is_missing(encode_word):
            return {"error": "it is not written yet."}
        merges = [*vocabularies[question["vocabulary"]]]
        ids_of = ids[question["vocabulary"]]
        try:
            words = [
                encode_word(spell_bytes(each), merges)
                for each in pre_tokens(question["text"])
            ]
            return {"ids": [ids_of[token] for word in words for token in word]}
        except KeyError as error:
            return {"error": f"it returned {error}, which is no token of these merges."}
        except Exception as error:  # whatever the learner's function raises
            return {"error": f"it raised {raised(error)}."}

    return answer
