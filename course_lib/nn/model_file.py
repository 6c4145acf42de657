"""A trained model as a small file that a page can run: float16, and a header.

The file is, one after another:

- eight letters, ``ATTNMDL`` and the version of the format
- the length of the header in bytes, as four bytes, the lowest first
- the header, JSON in UTF-8: ``kind`` ("language model" or "translator"), ``config``,
  ``tokenizer`` (as its ``as_data``), ``parameters`` (a list of ``name``, ``shape`` and
  ``offset``, which counts numbers), ``n_parameters``, ``bytes`` and ``sha256`` of what
  follows
- the parameters, row by row, as float16, the lower byte first

``course_lib/figures/living/runtime.js`` reads it. It holds no code.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.merges_file import write_whole
from course_lib.nn.language_model import (
    BLOCK_TODAY,
    LanguageModel,
    LanguageModelConfig,
)
from course_lib.nn.training.subwords import SubwordTokenizer
from course_lib.nn.transformer import Transformer, TransformerConfig

LETTERS = b"ATTNMDL"
FORMAT = b"1"  # another one is not read by this version of the course
MAX_BYTES = 4_000_000
COMMAND = "make models"
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "language model": (LanguageModel, LanguageModelConfig, ByteTokenizer),
    "translator": (Transformer, TransformerConfig, SubwordTokenizer),
}
Model = LanguageModel | Transformer
Tokenizer = ByteTokenizer | SubwordTokenizer


class ModelFileError(RuntimeError):
    """A model file cannot be written or read: one sentence, with what to do."""


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    about : the header
    parameters : by name, in float32; each is a float16
    """

    about: Mapping[str, Any]
    parameters: Mapping[str, Tensor]

    def load(self) -> tuple[Model, Tokenizer]:
        """Make the model, on the CPU, with these parameters, and its tokenizer."""
        model_class, config_class, tokenizer_class = KINDS[self.about["kind"]]
        config = config_class(**self.about["config"])
        model = model_class(config, device="cpu")
        model.load_state_dict(dict(self.parameters))
        return model.eval(), tokenizer_class.from_data(self.about["tokenizer"])


def write_model_file(path: Path, model: Model, tokenizer: Tokenizer) -> int:
    """Write a model and its tokenizer, whole or not at all; return the file's bytes.

    Raises ``ModelFileError`` for a model that a page cannot run, and for one whose file
    would have more than 4 MB.
    """
    _refuse_what_pages_cannot_run(model)
    kind = next(name for name, kind in KINDS.items() if isinstance(model, kind[0]))
    entries, parts, offset = [], [], 0
    for name, parameter in model.state_dict().items():
        numbers = parameter.detach().cpu().half().numpy().astype("<f2")
        if not np.isfinite(numbers).all():
            raise ModelFileError(f"{name} has numbers that float16 does not have")
        entries.append({"name": name, "shape": [*numbers.shape], "offset": offset})
        parts.append(numbers.tobytes())
        offset += numbers.size
    data = b"".join(parts)
    about = {
        "kind": kind,
        "config": asdict(model.config),
        "tokenizer": tokenizer.as_data(),
        "parameters": entries,
        "n_parameters": offset,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":")).encode()
    content = LETTERS + FORMAT + len(text).to_bytes(4, "little") + text + data
    if len(content) > MAX_BYTES:
        raise ModelFileError(
            f"{path.name} would have {len(content):,} bytes, and a page loads "
            f"{MAX_BYTES:,} at most: train a smaller model"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return len(content)


def _refuse_what_pages_cannot_run(model: Model) -> None:
    config = model.config
    if isinstance(config, TransformerConfig):
        runs = config.norm_first
    else:
        runs = all(getattr(config, name) == part for name, part in BLOCK_TODAY.items())
    if not runs:
        raise ModelFileError(
            "a page runs a language model of today's block, or a Transformer with "
            "norm_first: train one of these"
        )


def read_model_file(path: Path) -> ModelFile:
    """Read a model file.

    Raises ``ModelFileError`` if it is missing, cut off, damaged or of another version.
    """
    remedy = f"make it with `{COMMAND}`"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"There is no model {path}: {remedy}.") from None
    if not content.startswith(LETTERS):
        raise ModelFileError(f"{path} is no model of this course: {remedy}.")
    start = len(LETTERS) + 5
    if content[start - 5 : start - 4] != FORMAT:
        raise ModelFileError(
            f"{path} is of another version of the course: remove it and {remedy}."
        )
    length = int.from_bytes(content[start - 4 : start], "little")
    try:
        about = json.loads(content[start : start + length])
    except ValueError:
        about = {"sha256": ""}
    data = content[start + length :]
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        raise ModelFileError(f"{path} is cut off or damaged: remove it and {remedy}.")
    numbers = torch.from_numpy(np.frombuffer(data, "<f2").astype(np.float32))
    parameters = {}
    for each in about["parameters"]:
        size = int(np.prod(each["shape"]))
        part = numbers[each["offset"] : each["offset"] + size]
        parameters[each["name"]] = part.reshape(each["shape"])
    return ModelFile(about, parameters)
