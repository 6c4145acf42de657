"""Any arguments for what the lessons use: right, or an error that names one.

As ``tests.references.test_any_arguments`` for the exercises' functions. Each public
function of ``course_lib.lessons`` is here, tested elsewhere, or left out for a reason.
"""

import importlib
import inspect
import math
import os
import pkgutil
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import lessons
from course_lib.lessons.cost import matmul_flops
from course_lib.lessons.finite_differences import numerical_gradients
from course_lib.lessons.scale import scale_effect
from course_lib.lessons.tiny_decoder import mask_for_torch
from course_lib.lessons.wrong_encodings import (
    BASE,
    encoding_of,
    smallest_distance,
    wrong_frequencies,
)
from tests.references.test_any_arguments import all_finite, array_of, assert_own_error

N_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))

ELSEWHERE = {  # with properties of their own
    "beam_tree": "tests/lessons/test_beam_tree.py",
    "eight_plays": "tests/lessons/test_eight_plays.py",
    "first_letter": "tests/lessons/test_first_letter.py",
    "learned_pronoun": "tests/lessons/test_learned_pronoun.py",
    "play_merges": "tests/lessons/test_play_merges.py",
    "two_meanings": "tests/lessons/test_two_meanings.py",
    "patients": "tests/lessons/test_patients.py",
    "paper_results": "tests/lessons/test_paper_results.py",
    "long_reader": "tests/lessons/test_long_reader.py",
    "measuring": "tests/lessons/test_measuring.py",
    "own_draws": "tests/lessons/test_own_draws.py",
    "own_functions": "tests/lessons/test_own_functions.py",
    "sentence_triples": "tests/lessons/test_sentence_triples.py",
    "small_language_model": "tests/lessons/test_small_language_model.py",
    "tile_steps": "tests/figures/test_living_tiling.py",
    "torch_encoder": "tests/lessons/test_torch_encoder.py",
    "token_statistics": "tests/lessons/test_token_statistics.py",
    "typed_text": "tests/figures/test_living_text_tokens.py",
    "typed_translation": "tests/figures/test_living_translator.py",
    "translation_errors": "tests/lessons/test_small_translator.py",
    "reference_alignments": "tests/experiments/test_alignments.py",
}
LEFT_OUT = {
    "environment": "checks the installation; sets threads and seed",
    "pronoun": "sentences of known last words; any other word is refused by name",
    "stories": "draws stories of its own words for one experiment",
    "decoder_variants": "three decoders of lesson 04, called through leak",
    "learning_rates": "trains one small model at rates of its own",
    "next_token_example": "a command: writes a view's stored example",
    "own_words": "files of the trained models, and a view's stored example",
    "deep_stack": "makes its stacks and token ids itself, of six kinds by name",
    "single_head_model": "draws its sequences itself, for two experiments",
    "own_decoder": "runs functions of the reader on one trained model",
    "own_parts": "reads a notebook's names",
    "own_transformer": "made of functions of the reader, with sizes of its own",
    "small_seq2seq": "trains on tasks of its own for one lesson",
    "small_translator": "trains on a task of its own for one lesson",
    "tests_elsewhere": "tests, judged in tests/checking/test_learners_tests.py",
    "tiny_shakespeare": "trains on the plays, for one lesson and two experiments",
    "translation_trace": "shows one trained model; decoding checks its scores",
    "cost.sequential_operations": "reads the graph of any tensor",
}


def flops(d_model, n_heads, n):
    """Count products of matrices, head by head."""

    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    d_k = d_model // n_heads
    return {
        "projections": 3 * product(n, d_model, d_model),
        "scores": sum(product(n, d_k, n) for _ in range(n_heads)),
        "mixing": sum(product(n, n, d_k) for _ in range(n_heads)),
        "output projection": product(n, d_model, d_model),
    }


def waves(frequencies, n):
    rows = [
        [wave(i * float(f)) for f in frequencies for wave in (math.sin, math.cos)]
        for i in range(n)
    ]
    return np.reshape(np.array(rows), (n, 2 * len(frequencies)))


def frequencies_by_hand(d_model):
    steps = range(d_model // 2)
    return {
        "exp(-i * log(base) / d // 2)": [
            math.exp(math.floor(-i * math.log(BASE) / d_model / 2)) for i in steps
        ],
        "base ** -(2 * i // d)": [BASE ** -(2 * i // d_model) for i in steps],
        "base ** (-4 * i / d)": [BASE ** (-4 * i / d_model) for i in steps],
        "base ** (2 * i / d)": [BASE ** (2 * i / d_model) for i in steps],
    }


def nearest(encoding):
    rows = np.asarray(encoding).astype(float)
    return min(math.dist(a, b) for a, b in combinations(rows, 2))


def gradients_of_squares(arrays, step):
    return numerical_gradients(lambda *a: sum((x**2).sum() for x in a), arrays, step)


def effect_of_one_key(d_k, n):
    effect = scale_effect(d_k, scaled=True, n=n, m=1)
    return effect.d_k, effect.largest_weight, effect.jacobian_norm


def checked_mask(may_attend):
    return mask_for_torch(may_attend).numpy()


@st.composite
def arrays(draw, n_axes, kind="floats"):
    sizes = st.sampled_from([2, 3, 1, 4, 5, 0])
    return array_of(draw, tuple(draw(sizes) for _ in range(n_axes)), kind)


wholes = st.sampled_from([1, 2, 4, 6, 12, 3, 0, -2, 2.0, True, None, "4"])
axes = st.sampled_from([2, 2, 2, 1, 3])
matrices = axes.flatmap(arrays)
CALLS = {
    "cost.matmul_flops": (
        matmul_flops,
        flops,
        {"d_model": wholes, "n_heads": wholes, "n": wholes},
    ),
    "wrong_encodings.wrong_frequencies": (
        wrong_frequencies,
        frequencies_by_hand,
        {"d_model": wholes},
    ),
    "wrong_encodings.encoding_of": (
        encoding_of,
        waves,
        {"frequencies": st.sampled_from([1, 1, 2]).flatmap(arrays), "n": wholes},
    ),
    "wrong_encodings.smallest_distance": (
        smallest_distance,
        nearest,
        {"encoding": matrices},
    ),
    "finite_differences.numerical_gradients": (
        gradients_of_squares,
        lambda arrays, step: [2 * np.asarray(each).astype(float) for each in arrays],
        {
            "arrays": st.lists(matrices, max_size=3),
            "step": st.sampled_from([1e-5, 1e-4, 1e-3, 0, -1, math.nan, "1"]),
        },
    ),
    "scale.scale_effect": (
        effect_of_one_key,
        lambda d_k, n: (d_k, 1.0, 0.0),
        {"d_k": wholes, "n": wholes},
    ),
    "tiny_decoder.mask_for_torch": (
        checked_mask,
        lambda may_attend: may_attend,
        {"may_attend": arrays(2, "boolean")},
    ),
}


def public_functions():
    for info in pkgutil.iter_modules(lessons.__path__):
        module = importlib.import_module(f"course_lib.lessons.{info.name}")
        for name, value in vars(module).items():
            own = getattr(value, "__module__", "") == module.__name__
            if inspect.isfunction(value) and own and not name.startswith("_"):
                yield f"{info.name}.{name}"


def test_each_public_function_is_tested_or_left_out():
    listed = {*CALLS, *ELSEWHERE, *LEFT_OUT}
    for name in public_functions():
        assert listed & {name, name.partition(".")[0]}, name


@pytest.mark.parametrize("name", CALLS)
def test_right_or_refused(name):
    check_with(name, N_EXAMPLES)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_right_or_refused_many_times(name):
    check_with(name, max(1000, N_EXAMPLES))


def check_with(name, n_examples):
    function, right, strategies = CALLS[name]
    answered = []

    @settings(max_examples=n_examples, derandomize=True, database=None)
    @given(st.fixed_dictionaries(strategies))
    def check(call):
        with np.errstate(all="ignore"):
            try:
                result = function(**call)
            except Exception as error:
                assert_own_error(error, function)
                return
            answered.append(result)
            if all_finite(arrays := call.get("arrays", call.values())):
                # The loss is rounded, and divided by the step; else a few operations.
                rounding = 0.0
                if "step" in call:
                    squares = sum((a.astype(float) ** 2).sum() for a in arrays)
                    rounding = 1e-15 * squares / call["step"]
                assert_same(result, right(**call), rounding)

    check()
    assert answered, "every call was refused: nothing was compared"


def assert_same(result, expected, rounding):
    if isinstance(expected, dict):
        assert result.keys() == expected.keys()
        result, expected = [*result.values()], [*expected.values()]
    if isinstance(expected, list | tuple):
        for mine, right in zip(result, expected, strict=True):
            assert_same(mine, right, rounding)
        return
    actual, right = np.asarray(result), np.asarray(expected)
    assert actual.shape == right.shape
    np.testing.assert_allclose(actual, right, rtol=1e-12, atol=1e-12 + rounding)
