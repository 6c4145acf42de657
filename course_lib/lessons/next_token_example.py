"""``python -m course_lib.lessons.next_token_example``: store the view's example.

It is what the trained language model says after the beginning of a speech, and after
the tokens that may well follow. Needs ``make models``; the result is committed.
"""

import json
from pathlib import Path

import numpy as np
import torch

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.lessons import own_words
from course_lib.lessons.small_language_model import record_contexts
from course_lib.nn.model_file import read_model_file
from course_lib.nn.models import MODELS

TEXT = "**JULIET**\nI love"
N_CONTEXTS, MAX_LENGTH = 8, 24  # of tokens, with those of the text
SETTINGS = {"temperature": 0.8, "top_k": 40, "top_p": 0.9}


def main() -> None:
    model, tokenizer = read_model_file(MODELS["language model"].path).load()
    assert isinstance(tokenizer, ByteTokenizer)
    start = tokenizer.encode(TEXT)

    def next_logits(ids: list[int]) -> np.ndarray:
        with torch.inference_mode():
            return model(torch.tensor([ids]))[0, -1].numpy()

    contexts = record_contexts(next_logits, start, None, N_CONTEXTS, MAX_LENGTH)
    stored = {
        "text": TEXT,
        "start": start,
        **SETTINGS,
        "vocabulary": [name_of(tokenizer, i) for i in range(len(tokenizer))],
        "contexts": {
            " ".join(map(str, ids)): [round(float(each), 2) for each in logits]
            for ids, logits in contexts.items()
        },
    }
    path = Path(own_words.__file__).with_name(own_words.EXAMPLE)
    path.write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")


def name_of(tokenizer: ByteTokenizer, token_id: int) -> str:
    """Return a token as a view shows it: its text, or its bytes in hexadecimal.

    >>> name_of(ByteTokenizer([]), 97), name_of(ByteTokenizer([]), 195)
    ('a', '<c3>')
    """
    content = tokenizer.bytes_of(token_id)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return "".join(f"<{byte:02x}>" for byte in content)


if __name__ == "__main__":
    main()
