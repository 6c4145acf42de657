"""Byte-pair encoding of bytes: any text becomes token ids and comes back unchanged.

A text's UTF-8 bytes are written as one character each (``ALPHABET``), so training,
merging and encoding are those of ``course_lib.bpe``, and no symbol is ever unknown. The
alphabet and the pre-tokenisation are GPT-2's; a space belongs to the word after it.
"""

import re
from collections import Counter
from collections.abc import Sequence

import regex

from course_lib import arguments
from course_lib.bpe import encode_word

# GPT-2's. Python's own re does not know \p{L}, and its list of letters is as old as
# Python. That of regex is newer than that of tokenizers: with version 2026.11.15 they
# differ in 17,480 characters, all assigned after Unicode 16 (2024).
PATTERN = regex.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)

_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_HIDDEN = [byte for byte in range(256) if byte not in _VISIBLE]
# A byte is the Latin-1 character of this number if one can see that, else it is one of
# the characters from number 256 on: a space is Ġ.
_CHARACTERS = {byte: chr(byte) for byte in _VISIBLE} | {
    byte: chr(256 + index) for index, byte in enumerate(_HIDDEN)
}
ALPHABET = "".join(_CHARACTERS[byte] for byte in range(256))
BYTE_OF = {character: byte for byte, character in enumerate(ALPHABET)}


def pre_tokens(text: str) -> list[str]:
    """Split a text into the pre-tokens within which symbols may be joined.

    text : any text

    Returns the pre-tokens from left to right; joined, they are the text again:
    - runs of letters, of digits, and of other signs, each with the one space before it
      if there is one
    - the endings 's 't 're 've 'm 'll 'd
    - what white space is left

    Source: Radford et al. (2019), Language Models are Unsupervised Multitask Learners,
    section 2.2, and the regular expression in their program.

    >>> pre_tokens("The cat's 12 mats!")
    ['The', ' cat', "'s", ' 12', ' mats', '!']
    """
    return PATTERN.findall(arguments.text("text", text))


def spell_bytes(pre_token: str) -> tuple[str, ...]:
    """Write a pre-token as its UTF-8 bytes, each as one character of ``ALPHABET``.

    pre_token : any text

    Returns the symbols. Raises ``ValueError`` for half a surrogate pair, the one thing
    that a Python string can hold and UTF-8 cannot.
    Source: Radford et al. (2019), section 2.2; the alphabet is that of their program.

    >>> spell_bytes(" tä")
    ('Ġ', 't', 'Ã', '¤')
    """
    text = arguments.text("pre_token", pre_token)
    return tuple(ALPHABET[byte] for byte in arguments.utf_8("text", text))


def pre_token_counts(
    text: str, special_tokens: tuple[str, ...] = ()
) -> dict[tuple[str, ...], int]:
    """Count how often each pre-token occurs in a text, for ``train_bpe``.

    text : any text
    special_tokens : texts that stand for themselves; they are not counted

    Returns how often each pre-token occurs; it is written as ``spell_bytes`` writes it.
    So where counts are equal, ``train_bpe`` compares characters of ``ALPHABET``, not
    bytes: Ġ, the space, comes after z there. ``ByteTokenizer.train`` compares bytes.
    Source: Radford et al. (2019), section 2.2.

    >>> pre_token_counts("a a<end>", ("<end>",))
    {('a',): 1, ('Ġ', 'a'): 1}
    """
    counts: Counter[str] = Counter()
    for part in split_special(text, special_tokens):
        if part not in special_tokens:
            counts.update(pre_tokens(part))
    return {spell_bytes(pre_token): count for pre_token, count in counts.items()}


def split_special(text: str, special_tokens: tuple[str, ...]) -> list[str]:
    """Split a text at its special tokens; where two fit, the longer one counts.

    text : any text
    special_tokens : texts that stand for themselves

    Returns the parts from left to right; joined, they are the text again: special
    tokens and what is between them. Raises ``ValueError`` for an empty special token,
    and ``TypeError`` for what is not a sequence of texts.
    Source: GPT-2's program knows one special token; several by length is this course's.

    >>> split_special("a<end>b", ("<end>",))
    ['a', '<end>', 'b']
    """
    text = arguments.text("text", text)
    special_tokens = arguments.texts("special_tokens", special_tokens)
    if "" in special_tokens:
        raise ValueError(
            "special_tokens has an empty text: it would occur everywhere; leave it out"
        )
    if not special_tokens:
        return [text]
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)


def byte_vocabulary(
    merges: Sequence[tuple[str, str]], special_tokens: tuple[str, ...] = ()
) -> list[str]:
    """List the tokens of the byte-level encoding; a token's index is its token id.

    merges : the learned pairs, in symbols of ``ALPHABET``
    special_tokens : texts that stand for themselves

    Returns the 256 bytes, what each merge makes, and the special tokens, in this order.
    Source: Radford et al. (2019), section 2.2, whose 50,257 tokens are 256 bytes,
    50,000 merges and one special token; the order of the bytes is this course's.

    >>> byte_vocabulary([("a", "t")], ("<end>",))[97:99]
    ['a', 'b']
    >>> byte_vocabulary([("a", "t")], ("<end>",))[256:]
    ['at', '<end>']
    """
    joined = [left + right for left, right in arguments.pairs("merges", merges)]
    if unknown := {*"".join(joined)} - BYTE_OF.keys():
        raise ValueError(f"merges have {min(unknown)!r}, which is not in ALPHABET")
    special_tokens = arguments.texts("special_tokens", special_tokens)
    for token in special_tokens:
        arguments.utf_8("special_tokens", token)
    return [*ALPHABET, *joined, *special_tokens]


def encode_bytes(
    text: str, merges: list[tuple[str, str]], special_tokens: tuple[str, ...] = ()
) -> list[int]:
    """Turn any text into token ids.

    text : any text
    merges : the learned pairs, in symbols of ``ALPHABET``, in the order in which they
        were learned
    special_tokens : texts that become one token id each, wherever they occur; where two
        fit, the longer one counts

    Returns the token ids, indices in ``byte_vocabulary``: 0 … 255 are bytes, then
    comes one for each merge, then the special tokens. If two merges give the same text,
    either token id is right. Symbols are joined within each of the ``pre_tokens`` of
    what is between special tokens, as ``encode_word`` does, and never across two.
    Source: Radford et al. (2019), section 2.2.

    >>> encode_bytes("at ä<end>", [("a", "t")], ("<end>",))
    [256, 32, 195, 164, 257]
    """
    tokens = byte_vocabulary(merges)
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    token_ids = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            token_ids.append(len(tokens) + special_tokens.index(part))
            continue
        for pre_token in pre_tokens(part):
            word = encode_word(spell_bytes(pre_token), merges)
            token_ids += [ids[token] for token in word]
    return token_ids


def decode_bytes(
    token_ids: list[int],
    merges: list[tuple[str, str]],
    special_tokens: tuple[str, ...] = (),
) -> str:
    """Turn token ids back into the text.

    token_ids : indices in ``byte_vocabulary``
    merges : as in encoding
    special_tokens : as in encoding

    Returns the text, exactly the one that was encoded. Bytes that are not UTF-8, such
    as half a letter, become � (U+FFFD), as with Python's ``errors="replace"``. A token
    id outside the vocabulary, below 0 too, is an error, of any kind.
    Source: Radford et al. (2019), section 2.2.

    >>> decode_bytes([256, 32, 195, 164, 257], [("a", "t")], ("<end>",))
    'at ä<end>'
    >>> decode_bytes([97, 195], [])
    'a�'
    """
    tokens = byte_vocabulary(merges, special_tokens)
    first_special = len(tokens) - len(special_tokens)
    joined = b""
    for token_id in arguments.numbers("whole token_ids (n)", token_ids):
        if not 0 <= token_id < len(tokens):
            raise ValueError(
                f"token id {token_id} is not in the vocabulary of {len(tokens)}"
            )
        token = tokens[token_id]
        if token_id < first_special:
            joined += bytes(BYTE_OF[character] for character in token)
        else:
            joined += token.encode()
    return joined.decode(errors="replace")
