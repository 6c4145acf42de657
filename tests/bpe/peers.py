"""The libraries that the course's byte-pair encoding is compared with."""

import io
import json
from contextlib import redirect_stderr

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe
from tokenizers import Encoding, Tokenizer, models, pre_tokenizers, trainers

from course_lib.bpe import END_OF_WORD
from course_lib.merges_file import HEADER

Merges = list[tuple[str, str]]


def file_of_subword_nmt(text: str, n_merges: int) -> str:
    """Learn merges of words with subword-nmt; give the file that it writes.

    text : words with one space or line end between, the only ones at which it splits
    """
    written = io.StringIO()
    with redirect_stderr(io.StringIO()):  # its progress
        learn_bpe(io.StringIO(f"{text}\n"), written, n_merges)
    return written.getvalue()


def merges_in_file(file: str) -> Merges:
    """Read a file of subword-nmt's without the course's own reader."""
    header, *lines = file.splitlines()
    assert header == HEADER
    return [(left, right) for left, right in (line.split(" ") for line in lines)]


def subword_nmt_encoder(merges: Merges) -> BPE:
    """Return subword-nmt's encoder: it writes @@ behind all tokens but a word's last.

    It remembers the words that it has seen.
    """
    lines = [HEADER, *(f"{left} {right}" for left, right in merges)]
    return BPE(io.StringIO("\n".join(lines)))


def marked(segmented: list[list[str]]) -> list[list[str]]:
    """Write the tokens of subword-nmt's encoder, text by text, as the course does."""

    def written(token: str) -> str:
        joins = token.endswith("@@")  # the next token belongs to the same word
        return token.removesuffix("@@") if joins else token + END_OF_WORD

    return [[written(token) for token in tokens] for tokens in segmented]


def byte_tokenizer(text: str, n_merges: int) -> Tokenizer:
    """Learn merges of bytes with Hugging Face's tokenizers."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + n_merges,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def merges_of_tokenizer(tokenizer: Tokenizer) -> Merges:
    """Return the merges that a tokenizer learned, in their order."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(left, right) for left, right in merges]


def word_tokenizer(merges: Merges, vocabulary: list[str]) -> Tokenizer:
    """Return Hugging Face's encoder with the course's merges of words."""
    numbers = {token: number for number, token in enumerate(vocabulary)}
    model = models.BPE(vocab=numbers, merges=merges, end_of_word_suffix=END_OF_WORD)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def tokens_of(encodings: list[Encoding]) -> list[list[str]]:
    """Return the tokens of each text that was encoded."""
    return [encoding.tokens for encoding in encodings]
