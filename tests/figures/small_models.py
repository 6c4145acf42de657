"""Small models with random parameters, in files as pages have them."""

from pathlib import Path

import torch
from torch import nn

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig
from course_lib.nn.model_file import write_model_file
from course_lib.nn.training.subwords import END_ID, train_pair_tokenizer
from course_lib.nn.transformer import Transformer, TransformerConfig

TEXT = "To be, or not to be: that is the question. Töne, naïve 日本 😀\n\n  It's 1623!"
PAIRS = [
    ('The "Wi-Fi" is off.', 'Das "WLAN" ist aus.'),
    ("USB port. The device's fan is on", "USB-Anschluss. Der Lüfter ist an"),
    ("Is the fan off?", "Ist der Lüfter aus?"),
] * 3
ODD_TEXTS = [
    TEXT,
    "",
    "a",
    " \n\t ",
    "<b>&amp;</b>",
    "שלום עולם",
    "x" * 5000,
    "don't we'LL  go\u00a0on…",
    "👩‍👩‍👧 e\u0301",
    "\ufeffa\u0085 b\ufeff \x1cc\x1f",  # white space in Python alone, or in JavaScript
]


def spread(model: nn.Module, scale: float) -> nn.Module:
    """Make random parameters larger: logits differ, and so do weights."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(scale)
            else:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def small_language_model(folder: Path) -> Path:
    """Write the file of a small language model, whose heads share keys in threes."""
    torch.manual_seed(0)
    tokenizer = ByteTokenizer.train(TEXT * 3, 270)
    sizes = {"d_model": 24, "n_layers": 2, "n_heads": 6, "n_kv_heads": 2}
    config = LanguageModelConfig(len(tokenizer), **sizes, n_positions=40)
    model = LanguageModel(config, device="cpu")
    spread(model, 3.0)
    write_model_file(folder / "small.bin", model, tokenizer)
    return folder / "small.bin"


def small_translator(folder: Path, ends: float = 1.75) -> Path:
    """Write the file of a small translator, which ends its sentences now and then.

    ends : how early it does
    """
    torch.manual_seed(1)
    tokenizer = train_pair_tokenizer(PAIRS, 120)
    config = TransformerConfig(len(tokenizer), 24, 3, 2, 40, n_positions=30)
    model = Transformer(config, device="cpu")
    spread(model, 1.5)
    with torch.no_grad():
        end = model.embedding.weight[END_ID]
        model.decoder.norm.bias += ends * end / end.dot(end)
    write_model_file(folder / "translator.bin", model, tokenizer)
    return folder / "translator.bin"
