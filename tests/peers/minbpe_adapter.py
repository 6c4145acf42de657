"""What minbpe's tests call, answered by the course."""

from pathlib import Path

import pytest

from course_lib.byte_tokenizer import ByteTokenizer


class RegexTokenizer:
    """The course's tokenizer; its pre-tokenisation is GPT-2's, and minbpe's GPT-4's."""

    def __init__(self):
        self.inner = ByteTokenizer([])

    def train(self, text, vocab_size):
        self.inner = ByteTokenizer.train(text, vocab_size)

    def register_special_tokens(self, special_tokens):
        self.inner = ByteTokenizer(self.inner.merges, tuple(special_tokens))

    def encode(self, text, allowed_special="none_raise"):
        return self.inner.encode(text)

    def decode(self, ids):
        return self.inner.decode(ids)

    def save(self, prefix):
        self.inner.save(f"{prefix}.model")
        Path(f"{prefix}.vocab").write_text("\n".join(self.inner.vocabulary))

    def load(self, file):
        self.inner = ByteTokenizer.load(file)


BasicTokenizer = RegexTokenizer


def GPT4Tokenizer():
    pytest.skip("the course does not have GPT-4's merges")
