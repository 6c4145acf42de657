"""A byte-level tokenizer as one object: train, encode, decode, save, load.

Its token ids are those of ``course_lib.byte_bpe``, which is the one to read. Its file
is a ``tokenizer.json`` that Hugging Face's tokenizers opens.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from course_lib import arguments
from course_lib.byte_bpe import (
    BYTE_OF,
    byte_vocabulary,
    pre_token_counts,
    split_special,
)
from course_lib.fast_bpe import byte_encoder, train_bpe_fast
from course_lib.merges_file import write_whole

N_BYTES = 256


class ByteTokenizer:
    """Turn any text into token ids and back, with merges that are learned once.

    merges : the learned pairs, in symbols of ``byte_bpe.ALPHABET``
    special_tokens : texts that stand for themselves; where two fit, the longer counts
    vocabulary : all tokens; a token's index is its token id

    >>> tokenizer = ByteTokenizer.train("at mat at", 258, ("<end>",))
    >>> tokenizer.merges, tokenizer.encode("mat<end>")
    ([('a', 't')], [109, 256, 257])
    >>> tokenizer.decode([109, 256, 257])
    'mat<end>'
    """

    def __init__(
        self, merges: Sequence[tuple[str, str]], special_tokens: Sequence[str] = ()
    ) -> None:
        """Make a tokenizer of merges that were learned before."""
        self.merges = arguments.pairs("merges", merges)
        self.special_tokens = arguments.texts("special_tokens", special_tokens)
        split_special("", self.special_tokens)  # refuses an empty one
        self.vocabulary = byte_vocabulary(self.merges, self.special_tokens)
        self._n_learned = N_BYTES + len(self.merges)
        learned = self.vocabulary[: self._n_learned]
        self._ids = {token: token_id for token_id, token in enumerate(learned)}
        self._bytes = [bytes(map(BYTE_OF.__getitem__, token)) for token in learned]
        self._bytes += [token.encode() for token in self.special_tokens]
        self._tokens_of = byte_encoder(self.merges)

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def fingerprint(self) -> str:
        """Short text that differs where two vocabularies differ."""
        text = json.dumps(self.as_data(), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def train(
        cls,
        texts: str | Iterable[str],
        vocab_size: int,
        special_tokens: Sequence[str] = (),
        tie_break: Literal["last", "last bytes", "oldest"] = "last bytes",
    ) -> Self:
        """Learn merges from a text, or from several one after another.

        texts : a text, or any number of them, of which one is in memory at a time
        vocab_size : how many tokens there may be, with the 256 bytes and the special
            tokens; there are fewer if no pair is left that occurs twice
        special_tokens : texts that are not trained on, and stand for themselves
        tie_break : as in ``train_bpe_fast``: "last bytes" as in CS336, "oldest" as in
            tokenizers
        """
        special_tokens = arguments.texts("special_tokens", special_tokens)
        least = N_BYTES + len(special_tokens)
        vocab_size = arguments.whole(f"vocab_size ≥ {least}", vocab_size)
        counts: Counter[tuple[str, ...]] = Counter()
        if not isinstance(texts, Iterable):
            raise TypeError(f"texts must be texts (str), got {type(texts).__name__}")
        for text in [texts] if isinstance(texts, str) else texts:
            arguments.text("each of texts", text)
            counts.update(pre_token_counts(text, special_tokens))
        merges = train_bpe_fast(counts, vocab_size - least, tie_break)
        return cls(merges, special_tokens)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, those of ``byte_bpe.encode_bytes``."""
        token_ids: list[int] = []
        for part in split_special(text, self.special_tokens):
            if part in self.special_tokens:
                token_ids.append(self._n_learned + self.special_tokens.index(part))
            else:
                token_ids += map(self._ids.__getitem__, self._tokens_of(part))
        return token_ids

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of token ids, that of ``byte_bpe.decode_bytes``."""
        known = range(len(self._bytes))
        checked = arguments.numbers("whole token_ids (n)", token_ids).tolist()
        if unknown := [token_id for token_id in checked if token_id not in known]:
            raise ValueError(
                f"token_ids have {unknown[0]}, which is not in the vocabulary of "
                f"{len(known)}"
            )
        joined = b"".join(map(self._bytes.__getitem__, checked))
        return joined.decode(errors="replace")

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes of one token, which may be a part of a character."""
        return self._bytes[token_id]

    def as_data(self) -> dict[str, Any]:
        """Return what makes this tokenizer, as plain lists of text."""
        return {
            "kind": "bytes",
            "merges": [list(pair) for pair in self.merges],
            "special_tokens": list(self.special_tokens),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Make a tokenizer from the result of ``as_data``."""
        merges = [(left, right) for left, right in data["merges"]]
        return cls(merges, data["special_tokens"])

    def save(self, path: Path | str) -> None:
        """Write the tokenizer to a file, whole or not at all."""
        write_whole(Path(path), json.dumps(self._as_json(), indent=1).encode())

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a tokenizer from a file that ``save`` has written."""
        try:
            content = json.loads(Path(path).read_bytes())
            merges = [(left, right) for left, right in content["model"]["merges"]]
            loaded = cls(merges, [each["content"] for each in content["added_tokens"]])
            is_ours = loaded._as_json() == content
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            raise ValueError(
                f"{path} is not a file that ByteTokenizer.save has written"
            )
        return loaded

    def _as_json(self) -> dict[str, Any]:
        bytes_level = {"add_prefix_space": False, "trim_offsets": True}
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        added = enumerate(self.special_tokens, self._n_learned)
        return {
            "version": "1.0",
            "added_tokens": [
                {"id": token_id, "content": token, **flags, "special": True}
                for token_id, token in added
            ],
            "pre_tokenizer": {"type": "ByteLevel", **bytes_level, "use_regex": True},
            "decoder": {"type": "ByteLevel", **bytes_level, "use_regex": True},
            "model": {
                "type": "BPE",
                "vocab": self._ids,
                "merges": [list(pair) for pair in self.merges],
            },
        }
