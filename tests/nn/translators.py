"""One small translator of each kind, for the tests."""

import torch
from torch import nn

from course_lib.nn.recurrent import RecurrentConfig, RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerConfig

VOCAB_SIZE = 11
PADDING_ID, START_ID, END_ID = 0, 1, 2
KINDS = ["pre-norm", "post-norm", "none", "additive", "multiplicative"]


def translator(kind, dtype=torch.float64, device="cpu", seed=0, **options):
    """Make a translator whose parameters are large enough to make clear choices."""
    torch.manual_seed(seed)
    if kind.endswith("norm"):
        small = {"d_model": 12, "n_heads": 3, "d_ff": 10, "n_positions": 20}
        small |= {"norm_first": kind == "pre-norm"} | options
        config = TransformerConfig(VOCAB_SIZE, padding_id=PADDING_ID, **small)
        model = Transformer(config, device=device, dtype=dtype)
    else:
        small = {"d_embedding": 6, "d_hidden": 5} | options
        config = RecurrentConfig(
            VOCAB_SIZE, attention=kind, padding_id=PADDING_ID, **small
        )
        model = RecurrentTranslator(config, device=device, dtype=dtype)
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, std=0.7 if parameter.dim() > 1 else 0.3)
        if "norm" in name and name.endswith("weight"):  # so that translations differ
            parameter.data.add_(1.0)
    return model.eval()


def random_ids(batch, n, seed=0):
    """Draw token ids (batch, n) without the special ones."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(END_ID + 1, VOCAB_SIZE, (batch, n), generator=generator)
