"""The references of lessons 00 and 01 against PyTorch and against numbers by hand."""

import copy
import math
import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.checking.comparison import first_difference
from autograder.checking.registry import exercise_names, exercises_of, load
from course_lib.attention import (
    additive_scores,
    attention,
    attention_step_by_step,
    bilinear_scores,
    scaled_scores,
    similarity_attention,
    softmax,
    softmax_jacobian,
)
from course_lib.lessons import environment, pronoun
from course_lib.lessons.scale import scale_effect
from course_lib.warm_up import normalise_rows, pairwise_sums, softmax_by_hand
from tests.references.arrays import assert_same, normal, tensor

# Batch 2, 3 heads, n 5, m 7, d_k 4, d_v 6: no two sizes are alike.
LEADING = [(), (2,), (2, 3), (1,), (0,)]
DTYPES = [np.float64, np.float32]
# A sum of some ten products of numbers near 1 is off by some ten units of roundoff.

exact = settings(max_examples=60, derandomize=True)
finite = st.floats(-50, 50, width=32)


def tables(elements=finite):
    """Draw an array (..., n, m) with up to two leading axes."""
    shape = st.tuples(st.integers(1, 4), st.integers(1, 6))
    leading = st.lists(st.integers(1, 3), max_size=2).map(tuple)
    return st.builds(lambda a, b: a + b, leading, shape).flatmap(
        lambda s: hnp.arrays(np.float64, s, elements=elements)
    )


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [-1, -2, 0, 1, 2])
def test_softmax_matches_pytorch(axis, dtype):
    x = normal(5, 7, 4, dtype=dtype) * 10
    assert_same(softmax(x, axis), torch.softmax(tensor(x), dim=axis), dtype)


def test_softmax_of_huge_scores_matches_pytorch():
    x = np.array([[1e4, 0.0, -1e4], [1e300, 1e300, -1e300], [-1e4, -1e4, -1e4 - 1]])
    assert_same(softmax(x), torch.softmax(tensor(x), dim=-1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_attention_matches_sdpa(leading, dtype):
    q = normal(*leading, 5, 4, dtype=dtype, seed=1)
    k = normal(*leading, 7, 4, dtype=dtype, seed=2)
    v = normal(*leading, 7, 6, dtype=dtype, seed=3)
    output, weights = attention(q, k, v)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    assert_same(output, sdpa(tensor(q), tensor(k), tensor(v)), dtype)
    scores = tensor(q) @ tensor(k).mT / math.sqrt(4)
    assert_same(scaled_scores(q, k), scores, dtype)
    assert_same(weights, torch.softmax(scores, dim=-1), dtype)


@pytest.mark.gpu
def test_attention_matches_sdpa_on_the_gpu():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    q, k, v = normal(2, 3, 5, 4), normal(2, 3, 7, 4, seed=1), normal(2, 3, 7, 6, seed=2)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for dtype, close in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        there = [tensor(x).to("cuda", dtype) for x in (q, k, v)]
        theirs = sdpa(*there).cpu().numpy()
        np.testing.assert_allclose(attention(q, k, v)[0], theirs, rtol=0, atol=close)


@pytest.mark.parametrize("leading", LEADING)
def test_similarity_attention_matches_unscaled_sdpa(leading):
    x, y = normal(*leading, 5, 4), normal(*leading, 7, 4, seed=1)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    theirs = sdpa(tensor(x), tensor(y), tensor(y), scale=1.0)
    assert_same(similarity_attention(x, y), theirs)


@pytest.mark.parametrize("row", range(5))
def test_attention_step_by_step_matches_attention(row):
    q, k, v = normal(5, 4), normal(7, 4, seed=1), normal(7, 6, seed=2)
    steps = attention_step_by_step(q[row], k, v)
    output, weights = attention(q, k, v)
    assert_same(steps["output"], output[row])
    assert_same(steps["weights"], weights[row])
    assert_same(steps["scaled"], scaled_scores(q, k)[row])
    assert_same(steps["scores"], tensor(k) @ tensor(q[row]))
    assert_same(steps["weighted_values"], weights[row][:, None] * v)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_bilinear_scores_match_pytorch(leading, dtype):
    q, k = normal(*leading, 5, 3, dtype=dtype), normal(*leading, 7, 4, dtype=dtype)
    w = normal(3, 4, dtype=dtype)
    theirs = torch.einsum("...id,de,...je->...ij", *map(tensor, (q, w, k)))
    assert_same(bilinear_scores(q, k, w), theirs, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_additive_scores_match_linear_layers(leading, dtype):
    q, k = normal(*leading, 5, 3, dtype=dtype), normal(*leading, 7, 4, dtype=dtype)
    w_q, w_k, v = (normal(*s, dtype=dtype) for s in ((3, 6), (4, 6), (6,)))
    linear = torch.nn.functional.linear
    hidden_q, hidden_k = (
        linear(tensor(q), tensor(w_q).T),
        linear(tensor(k), tensor(w_k).T),
    )
    hidden = torch.tanh(hidden_q.unsqueeze(-2) + hidden_k.unsqueeze(-3))
    assert_same(additive_scores(q, k, w_q, w_k, v), hidden @ tensor(v), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_jacobian_matches_autograd(dtype):
    scores = tensor(normal(6, dtype=dtype))
    theirs = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    assert_same(softmax_jacobian(softmax(scores.numpy())), theirs, dtype)


@pytest.mark.parametrize("leading", [(2,), (2, 3), (0,)])
def test_softmax_jacobian_works_row_by_row(leading):
    p = softmax(normal(*leading, 6))
    result = softmax_jacobian(p)
    assert result.shape == (*leading, 6, 6)
    for index in np.ndindex(*leading):
        assert_same(result[index], softmax_jacobian(p[index]))


# Numbers by hand


def test_softmax_of_logarithms_by_hand():
    shares = [math.log(1), math.log(2), math.log(5)]
    np.testing.assert_allclose(softmax(np.array(shares)), [1 / 8, 2 / 8, 5 / 8])
    np.testing.assert_allclose(softmax_by_hand(shares), [1 / 8, 2 / 8, 5 / 8])
    assert all(type(share) is float for share in softmax_by_hand(shares))


def test_scaled_scores_by_hand():
    q = np.array([[1.0, 0.0, 2.0, 1.0]])
    k = np.array([[1.0, 5.0, 1.0, 1.0], [0.0, 0.0, 0.0, -2.0], [2.0, 2.0, 2.0, 2.0]])
    np.testing.assert_array_equal(scaled_scores(q, k), [[4 / 2, -2 / 2, 8 / 2]])


def test_attention_by_hand():
    q, k = np.array([[math.log(3)]]), np.array([[1.0], [0.0]])
    v = np.array([[8.0, 0.0, 1.0], [0.0, 4.0, 1.0]])
    output, weights = attention(q, k, v)
    np.testing.assert_allclose(weights, [[0.75, 0.25]])
    np.testing.assert_allclose(output, [[6.0, 1.0, 1.0]])


def test_additive_and_bilinear_scores_by_hand():
    q, k = np.array([[1.0, 2.0]]), np.array([[3.0, 0.0, 1.0]])
    w = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 5.0]])
    np.testing.assert_array_equal(bilinear_scores(q, k, w), [[3.0 + 2.0 * 5.0]])
    w_q, w_k = np.array([[50.0, 0.0], [0.0, 0.0]]), np.zeros((3, 2))
    np.testing.assert_allclose(
        additive_scores(q, k, w_q, w_k, np.array([7.0, 9.0])), [[7.0]]
    )


def test_softmax_jacobian_by_hand():
    result = softmax_jacobian(np.array([0.2, 0.8]))
    np.testing.assert_allclose(result, [[0.16, -0.16], [-0.16, 0.16]])


def test_warm_up_by_hand():
    rows = normalise_rows(np.array([[1.0, 4.0], [3.0, 3.0]]))
    np.testing.assert_allclose(rows, [[0.2, 0.8], [0.5, 0.5]])
    sums = pairwise_sums(np.array([[1.0, 2.0]]), np.array([[10.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(sums, [[[11.0, 2.0], [1.0, 3.0]]])
    assert pairwise_sums(np.ones((5, 3)), np.ones((7, 3))).shape == (5, 7, 3)


# What must hold for any numbers


@exact
@given(tables(), finite)
def test_softmax_ignores_a_constant_added_to_all_scores(x, shift):
    # Adding rounds: scores up to 100 in size are off by up to 1.4e-14 each.
    np.testing.assert_allclose(softmax(x + shift), softmax(x), rtol=1e-12)


@exact
@given(tables(elements=st.floats(-1e300, 1e300)), st.sampled_from([-1, -2, 0]))
def test_softmax_sums_to_1(x, axis):
    shares = softmax(x, axis=axis)
    assert shares.shape == x.shape
    assert np.all((shares >= 0) & (shares <= 1))
    np.testing.assert_allclose(shares.sum(axis=axis), 1, rtol=1e-14)


@exact
@given(tables())
def test_softmax_keeps_the_order_of_the_scores(x):
    shares = softmax(x)
    larger = x[..., :, None] > x[..., None, :]
    assert np.all(shares[..., :, None] >= shares[..., None, :], where=larger)


@exact
@given(tables(elements=st.floats(0.01, 100)))
def test_normalise_rows_keeps_proportions(x):
    rows = normalise_rows(x)
    np.testing.assert_allclose(rows.sum(axis=-1), 1, rtol=1e-14)
    np.testing.assert_allclose(rows * x[..., :1], x * rows[..., :1], rtol=1e-13)


@exact
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_softmax_by_hand_matches_softmax(scores):
    np.testing.assert_allclose(softmax_by_hand(scores), softmax(np.array(scores)))


@exact
@given(st.integers(0, 10**6), st.integers(1, 5), st.permutations(range(7)))
def test_permuting_keys_with_values_changes_nothing(seed, n, order):
    order = list(order)
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=shape) for shape in ((n, 4), (7, 4), (7, 6)))
    output, weights = attention(q, k, v)
    shuffled, shuffled_weights = attention(q, k[order], v[order])
    np.testing.assert_allclose(shuffled, output, atol=1e-13)
    np.testing.assert_allclose(shuffled_weights, weights[:, order], atol=1e-14)
    reordered, _ = attention(q[::-1], k, v)
    np.testing.assert_allclose(reordered, output[::-1], atol=1e-13)


@exact
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 7))
def test_attention_output_is_between_the_values(seed, n, m):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=shape) for shape in ((n, 4), (m, 4), (m, 6)))
    output, weights = attention(q, k, v)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    slack = 1e-14
    assert np.all((output >= v.min(axis=0) - slack) & (output <= v.max(axis=0) + slack))


def test_equal_keys_give_the_mean_of_the_values():
    v = normal(7, 6)
    output, weights = attention(normal(5, 4), np.tile(normal(1, 4), (7, 1)), v)
    np.testing.assert_allclose(weights, 1 / 7)
    np.testing.assert_allclose(output, np.tile(v.mean(axis=0), (5, 1)))


@exact
@given(tables())
def test_softmax_jacobian_is_symmetric_with_rows_of_sum_0(x):
    jacobian = softmax_jacobian(softmax(x))
    np.testing.assert_array_equal(jacobian, np.swapaxes(jacobian, -1, -2))
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-15)
    assert np.all(np.linalg.eigvalsh(jacobian) > -1e-15)


def test_softmax_jacobian_matches_finite_differences():
    scores, step = normal(6), 1e-6
    moved = [
        (softmax(scores + step * e) - softmax(scores - step * e)) / (2 * step)
        for e in np.eye(6)
    ]
    # A central difference of step h is off by about h² plus roundoff / h.
    np.testing.assert_allclose(
        softmax_jacobian(softmax(scores)), np.array(moved).T, atol=1e-9
    )


# Hygiene, for every exercise there is


@pytest.mark.parametrize("name", exercise_names())
def test_references_leave_their_arguments(name):
    exercise = load(name)
    arguments = exercise.usual_inputs(np.random.default_rng(0))
    before = copy.deepcopy(arguments)
    result = exercise.reference(*arguments)
    for mine, old in zip(arguments, before, strict=True):
        assert callable(mine) or first_difference(mine, old) is None
    parts = result.values() if isinstance(result, dict) else result
    for part in parts if isinstance(result, dict | tuple) else [result]:
        assert not any(
            np.shares_memory(part, argument)
            for argument in arguments
            if isinstance(argument, np.ndarray) and isinstance(part, np.ndarray)
        )


@pytest.mark.parametrize("name", exercise_names())
def test_references_take_any_memory_layout(name):
    exercise = load(name)
    arguments = exercise.usual_inputs(np.random.default_rng(0))
    if not any(isinstance(argument, np.ndarray) for argument in arguments):
        pytest.skip("it takes no arrays")
    turned = [
        np.asfortranarray(a) if isinstance(a, np.ndarray) else a for a in arguments
    ]
    mine, other = exercise.reference(*turned), exercise.reference(*arguments)
    if isinstance(mine, dict):
        assert list(mine) == list(other)
        mine, other = tuple(mine.values()), tuple(other.values())
    if not isinstance(mine, tuple):
        mine, other = (mine,), (other,)
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


@pytest.mark.parametrize("name", exercise_names())
def test_docstrings_have_meaning_source_and_example(name):
    text = load(name).reference.__doc__
    assert text.splitlines()[0].endswith(".")
    assert "Returns" in text and "Source: " in text and ">>> " in text
    for parameter in load(name).parameters:
        assert f"\n    {parameter} : " in text


# The experiments


@pytest.mark.parametrize("d_k", [1, 4, 64, 512])
def test_scaling_gives_scores_variance_1(d_k):
    raw, scaled = (scale_effect(d_k, scaled=s) for s in (False, True))
    # 20,000 scores, ten for each query: the estimate is good to a few per cent.
    assert raw.variance / d_k == pytest.approx(1, abs=0.05)
    assert scaled.variance == pytest.approx(1, abs=0.05)
    assert raw.d_k == scaled.d_k == d_k


def test_scaling_keeps_gradients_from_vanishing():
    sizes = [4, 16, 64, 256]
    raw = [scale_effect(d_k, scaled=False) for d_k in sizes]
    scaled = [scale_effect(d_k, scaled=True) for d_k in sizes]
    norms = [effect.jacobian_norm for effect in raw]
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < norms[0] / 50
    stays = [effect.jacobian_norm for effect in scaled]
    assert max(stays) < 1.1 * min(stays)
    tops = [effect.largest_weight for effect in raw]
    assert tops == sorted(tops) and tops[-1] > 0.9
    assert all(0.2 < effect.largest_weight < 0.5 for effect in scaled)


def test_scale_effect_follows_from_its_seed():
    assert scale_effect(8, scaled=True, n=50) == scale_effect(8, scaled=True, n=50)
    assert scale_effect(8, scaled=True, n=50) != scale_effect(
        8, scaled=True, n=50, seed=2
    )


@pytest.mark.parametrize(
    ("last_word", "meant"), [("tired", "animal"), ("wide", "street")]
)
def test_pronoun_attends_to_what_it_means(last_word, meant):
    keys = pronoun.keys(last_word)
    words = pronoun.sentence(last_word)
    assert keys.shape == (len(words), 4) == (11, 4)
    _, weights = attention(pronoun.query_of_it(last_word), keys, keys)
    assert words[weights[0].argmax()] == meant
    assert weights[0].max() > 2 / 3


def test_sentences_differ_in_their_last_word_only():
    assert pronoun.sentence("tired")[:-1] == pronoun.sentence("wide")[:-1]
    with pytest.raises(ValueError, match=r"^last_word='xyz' is not one of"):
        pronoun.keys("xyz")
    with pytest.raises(ValueError, match=r"^last_word='xyz' is not one of"):
        pronoun.query_of_it("xyz")


def test_it_attends_to_what_a_known_word_is_said_of():
    expected = {
        "of an animal": ["animal"],
        "of a street": ["street"],
        "of either": ["animal", "street"],
    }
    for group, words in pronoun.KNOWN.items():
        weights = pronoun.choice(*words)["weights"]
        nouns = expected.get(group)
        for word, row in zip(words, weights, strict=True):
            k = pronoun.keys(word)
            _, by_attention = attention(pronoun.query_of_it(word), k, k)
            np.testing.assert_allclose(row, by_attention[0], atol=1e-12)
            most = np.isclose(row, row.max())
            assert {*np.array(pronoun.sentence(word))[most]} == {
                *(nouns or pronoun.sentence(word))
            }
    assert len(pronoun.known_words()) == len({*pronoun.known_words()})


def test_sentences_are_independent_copies():
    pronoun.sentence("tired").append("x")
    pronoun.keys("tired")[:] = 9
    assert pronoun.sentence("tired")[-1] == "tired"
    assert pronoun.keys("tired").max() == 2


# The environment


def test_this_environment_is_ready():
    message = "Python, numpy, matplotlib and torch are here and new enough."
    assert environment.check_environment() == message


def test_old_python_is_named(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 14, "final", 0))
    with pytest.raises(environment.NotReadyError) as caught:
        environment.check_environment()
    assert str(caught.value) == (
        "This is Python 3.10; the course needs 3.11 or newer. Install one, and the "
        "course in it."
    )


def test_missing_package_is_named(monkeypatch):
    def version(name):
        if name == "matplotlib":
            raise PackageNotFoundError(name)
        return "99.0"

    monkeypatch.setattr(environment, "version", version)
    with pytest.raises(environment.NotReadyError) as caught:
        environment.check_environment()
    assert str(caught.value) == (
        f"matplotlib is not installed in this Python: {environment.MEND}. Then start "
        "the notebook with `attention-course`."
    )


@pytest.mark.parametrize("old", ["1.26.4", "1.9", "1.9.2+local"])
def test_old_package_is_named(monkeypatch, old):
    versions = {"numpy": old}
    monkeypatch.setattr(environment, "version", lambda name: versions.get(name, "99.0"))
    with pytest.raises(environment.NotReadyError) as caught:
        environment.check_environment()
    assert str(caught.value) == (
        f"numpy is {old}; the course needs 2.0 or newer: {environment.MEND}."
    )


def test_older_pytorch_is_told_and_stops_nobody(monkeypatch):
    versions = {"torch": "2.9.1+cu126"}
    monkeypatch.setattr(environment, "version", lambda name: versions.get(name, "99.0"))
    assert "torch is 2.9.1+cu126; the course needs 2.13" in (
        environment.check_environment()
    )


@pytest.mark.parametrize(
    "new", ["2.13.0+cpu", "2.13.1", "3.0.0a1", "2.14.0.dev20260101"]
)
def test_new_package_is_accepted(monkeypatch, new):
    versions = {"torch": new}
    monkeypatch.setattr(environment, "version", lambda name: versions.get(name, "99.0"))
    assert environment.check_environment().endswith("new enough.")


@pytest.mark.parametrize("exercise", exercises_of("01_dot_product_attention"))
def test_float32_stays_float32(exercise):
    arguments = exercise.usual_inputs(np.random.default_rng(0))
    floats = [isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in arguments]
    if not any(floats):
        pytest.skip("it takes no arrays of floats")
    result = exercise.reference(
        *(
            a.astype(np.float32) if f else a
            for a, f in zip(arguments, floats, strict=True)
        )
    )
    parts = result.values() if isinstance(result, dict) else result
    for part in parts if isinstance(result, dict | tuple) else [result]:
        if type(part) not in (bool, int, float, str):  # they have one precision
            assert part.dtype == np.float32
