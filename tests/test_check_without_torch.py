"""The first check of a lesson without PyTorch does not import it."""

import subprocess
import sys

import pytest

from autograder.checking.registry import exercise_names
from tests.quick import all_but

FIRST = """
import sys
import autograder
assert "torch" not in sys.modules, "import autograder imports torch"
def {name}(*arguments, **keywords):
    return None
try:
    autograder.check({name})
except autograder.CheckFailed:
    pass
assert "torch" not in sys.modules, "check imports torch"
"""


# They take PyTorch's tensors, or share a module with such; their lessons import torch.
TAKES_TENSORS = {
    "adam_step",
    "additive_attention",
    "alignment_mass",
    "apply_temperature",
    "beam_search",
    "bits_per_byte",
    "cached_step",
    "clip_gradients",
    "count_transformer",
    "cross_entropy",
    "decoder_layer",
    "decoder_step",
    "embed",
    "encode_pretrained",
    "encoder_layer",
    "feed_forward",
    "gather_log_probabilities",
    "greedy_decode",
    "grouped_query_attention",
    "gru_step",
    "head_importance",
    "head_role_scores",
    "induction_score",
    "label_smoothing",
    "language_model_batch",
    "layer_norm",
    "load_torch_parameters",
    "luong_score",
    "numerical_gradient",
    "padding_gap",
    "patching_effects",
    "prune",
    "rms_norm",
    "sample",
    "sgd_step",
    "shift_right",
    "swiglu",
    "test_decoding",
    "test_layer",
    "top_k_filter",
    "top_p_filter",
    "train",
    "train_epoch",
    "warmup_rate",
}


QUICK = {"softmax", "attention", "train_bpe"}


@pytest.mark.parametrize(
    "name", all_but(QUICK, sorted({*exercise_names()} - TAKES_TENSORS))
)
def test_first_check_needs_no_torch(name):
    ran = subprocess.run(
        [sys.executable, "-c", FIRST.format(name=name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
