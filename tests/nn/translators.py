"""One small translator of each kind, for the tests."""

import torch
from torch import nn

from course_lib.nn.recurrent import RecurrentSizes, RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerSizes

VOCAB_SIZE = 11
PADDING, START, END = 0, 1, 2
KINDS = ["pre-norm", "post-norm", "none", "additive", "multiplicative"]


def translator(kind, dtype=torch.float64, device="cpu", seed=0, **sizes):
    """Make a translator whose parameters are large enough to have opinions."""
    torch.manual_seed(seed)
    if kind.endswith("norm"):
        small = {"d_model": 12, "n_heads": 3, "d_ff": 10, "n_places": 20}
        small |= {"norm_first": kind == "pre-norm"} | sizes
        chosen = TransformerSizes(VOCAB_SIZE, padding=PADDING, **small)
        model = Transformer(chosen, device=device, dtype=dtype)
    else:
        small = {"d_embedding": 6, "d_hidden": 5} | sizes
        chosen = RecurrentSizes(VOCAB_SIZE, attention=kind, padding=PADDING, **small)
        model = RecurrentTranslator(chosen, device=device, dtype=dtype)
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, std=0.7 if parameter.dim() > 1 else 0.3)
        if "norm" in name and name.endswith("weight"):  # so that texts differ
            parameter.data.add_(1.0)
    return model.eval()


def texts(batch, n, seed=0):
    """Draw tokens (batch, n) without those that have a meaning."""
    drawn = torch.Generator().manual_seed(seed)
    return torch.randint(END + 1, VOCAB_SIZE, (batch, n), generator=drawn)
