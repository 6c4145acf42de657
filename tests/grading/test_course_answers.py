"""No function of the course that a submission can reach answers an exercise unnoticed.

Each function of the copy that takes as many arguments as an exercise is judged as the
answer to it. ``answer_search`` calls them in loops and along axes, on parts of the
arguments, and looks at parts of their results. Some that fit only with more code around
them are listed by hand.
"""

import ast
import copy
import importlib

import pytest

from autograder.checking.judging import judge
from autograder.checking.registry import exercises_of, load
from autograder.grading.engine import Engine
from autograder.grading.lesson_needs import LessonNeeds
from tests.grading.answer_search import search, silent_functions
from tests.grading.engines import SEED, SHORT, process_number
from tests.grading.sessions import check, session_of, solution
from tests.grading.test_every_lesson import QUICK, lessons
from tests.submissions import COURSE

pytestmark = pytest.mark.sandbox

# Calls a function as it is, then with tensors for arrays, or the other way round.
PLAIN = """
import numpy as np
import torch
from {module} import {function} as theirs


def through(kind, value):
    if kind is torch and type(value) is np.ndarray:
        return torch.from_numpy(value)
    if kind is np and type(value) is torch.Tensor:
        return value.detach().numpy()
    if type(value) in (tuple, list):
        return type(value)(through(kind, part) for part in value)
    if type(value) is dict:
        return {{key: through(kind, part) for key, part in value.items()}}
    return value


def {name}(*arguments):
    kind = np if any(type(value) is np.ndarray for value in arguments) else torch
    try:
        return through(kind, theirs(*arguments))
    except Exception:
        other = torch if kind is np else np
        return through(kind, theirs(*through(other, arguments)))
"""


@pytest.fixture(scope="module", params=lessons(QUICK[:1]))
def engine(request):
    options = {"seed": SEED, "budget": SHORT, "worker": process_number()}
    with Engine(COURSE, request.param, **options) as started:
        yield started


def judged(engine, texts):
    """Judge answers; give each one's points, and the names that were flagged."""
    cells = [cell for cell in engine.release.cells if cell.role == "setup"]
    for name, text in texts.items():
        cells += [solution(name, text), check(name)]
    results = {}
    with session_of(engine.sandbox, *cells) as session:
        for name in texts:
            exercise = copy.copy(load(name))
            exercise.misconceptions = []  # to name what is wrong takes time

            def run(arguments, keywords, name=name):
                return session.call(name, "check", arguments, keywords, {})

            result = judge(exercise, lambda bound, run=run: run, seed=SEED)
            flags = {flag.what for flag in session.flags if flag.exercise == name}
            results[name] = result.points, flags
    return results


def candidates(engine):
    """Yield the functions of the copy, with the exercises that have their arguments."""
    graded = [load(each).reference.__module__ for each in engine.release.exercises]
    needs = LessonNeeds(engine.release.own_code, graded)
    for module in needs.modules.values():
        for function in module.definitions.values():
            if isinstance(function, ast.FunctionDef) and function.name[0] != "_":
                parameters = function.args
                least = len(parameters.args) - len(parameters.defaults)
                most = 99 if parameters.vararg else len(parameters.args)
                fitting = [
                    name
                    for name in engine.release.exercises
                    if least <= len(load(name).parameters) <= most
                ]
                if fitting:
                    yield module.name, function.name, fitting


# What answers nothing may earn a point: where a claim is about an error, say.
NOTHING = (
    "def {name}(*arguments):\n    raise ValueError('wrong')",
    "def {name}(*arguments):\n    return arguments[0]",
    "def {name}(*arguments):\n    return arguments[0] * 0",
    "def {name}(*arguments):\n    return list(arguments[0])",
)


def test_no_function_of_the_course_is_an_answer_unnoticed(engine):
    names = engine.release.exercises
    wrong = [
        judged(engine, {n: text.format(name=n) for n in names}) for text in NOTHING
    ]
    free = {name: max(results[name][0] for results in wrong) for name in names}
    unnoticed = []
    for module, function, fitting in candidates(engine):
        form = {"module": module, "function": function}
        texts = {name: PLAIN.format(name=name, **form) for name in fitting}
        for name, (points, flags) in judged(engine, texts).items():
            if points > free[name] and not flags:
                unnoticed.append((name, f"{module}.{function}", points))
    assert unnoticed == []


@pytest.mark.thorough
def test_no_silent_function_answers_in_loops_on_parts_or_by_parts_of_its_result(engine):
    assert [*map(str, search(engine, silent_functions(engine)))] == []


def test_search_finds_what_answers_in_a_loop_and_by_a_part():
    with Engine(COURSE, QUICK[0], seed=SEED, worker=process_number()) as engine:
        tiles = "course_lib.lessons.tile_steps", "record_tiles"
        weights = "course_lib.figures.dot_product", "softmax_weights"
        found = {(f.exercise, f.function): f for f in search(engine, [weights, tiles])}
    assert found.keys() >= {("softmax", ".".join(each)) for each in (weights, tiles)}
    for (_, function), each in found.items():
        assert each.noticed == {function}


# What a demonstration needs although it answers an exercise: it works, and is flagged.
HEADS = """
import torch
from course_lib.experiments import two_heads


def split_heads(x, n_heads):
    return torch.as_tensor(x).unflatten(-1, (n_heads, -1)).transpose(-2, -3).numpy()


def multi_head_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    parameters = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    parameters = {name: torch.tensor(each * 1.0) for name, each in parameters.items()}
    x, memory = torch.tensor(x * 1.0), torch.tensor(memory * 1.0)
    output = two_heads.multi_head_layer(x, memory, parameters, n_heads).numpy()
    q, k = x @ parameters["w_q"], memory @ parameters["w_k"]
    scores = scaled_scores(*(split_heads(each, n_heads) for each in (q, k)))
    return output, softmax(scores)
"""
POSITIONS = """
import torch
from course_lib.nn import LearnedPositions


def add_positions(x, encoding):
    layer = LearnedPositions(*encoding.shape, dtype=torch.float64, device="cpu")
    layer.encoding = torch.nn.Parameter(torch.tensor(encoding * 1.0))
    return layer(torch.tensor(x * 1.0)).detach().numpy()
"""
SINUSOIDS = """
def sinusoidal_encoding(n, d_model, base=10000.0):
    frequencies = base ** (-np.arange(0, d_model, 2) / d_model)
    return wrong_encodings.encoding_of(frequencies, n)[:, :d_model]
"""
WORD = """
def encode_word(word, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    return fast_bpe._apply_merges(list(word), ranks)
"""
SCORES = """
from course_lib.attention import additive_scores


def additive_attention(state, keys, values, w_q, w_k, v, may_attend=None):
    arrays = [each.numpy() for each in (state.unsqueeze(-2), keys, w_q, w_k, v)]
    scores = torch.from_numpy(additive_scores(*arrays)).squeeze(-2)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(-2) @ values).squeeze(-2), weights
"""
LAYER = """
from course_lib.nn import transformer as modules


def encoder_layer(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = parameters
    d_model, d_ff = p["w_1"].shape
    options = {"norm_first": norm_first, "device": "cpu", "dtype": x.dtype}
    layer = modules.EncoderLayer(d_model, n_heads, d_ff, **options)
    named = {"linear_1": ("w_1", "b_1"), "linear_2": ("w_2", "b_2")}
    for name, short in zip(("query", "key", "value", "output"), "qkvo"):
        named[f"self_attention.{name}"] = f"w_{short}", None
    state = {}
    for name, (weight, bias) in named.items():
        state[f"{name}.weight"] = p[weight].T
        state[f"{name}.bias"] = p[bias] if bias else torch.zeros(d_model)
    for i in (1, 2):
        state[f"norms.{i - 1}.weight"] = p[f"gain_{i}"]
        state[f"norms.{i - 1}.bias"] = p[f"bias_{i}"]
    layer.load_state_dict(state)
    return layer(x, may_attend).detach()
"""
DECODED = """
from tokenizers import Tokenizer, decoders


def decode_bytes(token_ids, merges, special_tokens=()):
    vocabulary = byte_vocabulary(merges, special_tokens)
    return decoders.ByteLevel().decode([vocabulary[i] for i in token_ids])
"""
ONE_PASS = """
import numpy as np
from course_lib.lessons.tile_steps import record_tiles


def online_softmax(x, block):
    x = np.asarray(x, dtype=float)
    rows = x.reshape(-1, x.shape[-1])
    last = record_tiles(rows, np.eye(rows.shape[-1]), block, 1)[-1]
    return (last.output / last.total[:, np.newaxis]).reshape(x.shape)
"""
TILES = """
import numpy as np
from course_lib.lessons.tile_steps import record_tiles


def tiled_attention(q, k, v, block, may_attend=None):
    n, m = q.shape[-2], k.shape[-2]
    leading = q.shape[:-2]
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = np.where(may_attend, scores, -1e300)
    output = np.empty((*q.shape[:-1], v.shape[-1]))
    for index in np.ndindex(leading):
        last = record_tiles(scores[index], v[index], block, n)[-1]
        output[index] = last.output / last.total[:, np.newaxis]
    if may_attend is not None:
        anything = np.broadcast_to(may_attend, (*leading, n, m)).any(-1)
        output[~anything] = 0.0
    return output
"""
ROW_BY_ROW = """
import numpy as np
from course_lib.experiments.attention_memory import plain_attention


def tiled_attention(q, k, v, block, may_attend=None):
    n, m = q.shape[-2], k.shape[-2]
    if may_attend is None:
        may_attend = np.ones((n, m), dtype=bool)
    allowed = np.broadcast_to(may_attend, (*q.shape[:-1], m))
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    for *batch, i in np.ndindex(q.shape[:-1]):
        at = *batch, i
        keys = allowed[at]
        if keys.any():
            row = q[(*batch, slice(i, i + 1))] * 1.0
            output[at] = plain_attention(row, k[*batch][keys], v[*batch][keys])[0]
    return output
"""
TREE = """
from course_lib.lessons.beam_tree import record_beam_search


def beam_search(next_log_probabilities, start, end, beam_size, max_length, alpha=0.6):
    given = next_log_probabilities, start, end, beam_size, max_length, alpha
    tree = record_beam_search(*given)
    step, index = tree.best
    token_ids = []
    while step >= 0:
        hypothesis = tree.steps[step][index]
        token_ids.insert(0, hypothesis.token_id)
        step, index = step - 1, hypothesis.parent
    return [each for each in token_ids if each != end]
"""
WITH_CODE_AROUND = {
    "decode_bytes": (DECODED, "tokenizers.Tokenizer"),
    "multi_head_attention": (
        HEADS,
        "course_lib.experiments.two_heads.multi_head_layer",
    ),
    "add_positions": (POSITIONS, "course_lib.nn.transformer.LearnedPositions"),
    "sinusoidal_encoding": (
        SINUSOIDS,
        "course_lib.lessons.wrong_encodings.encoding_of",
    ),
    "encode_word": (WORD, "course_lib.fast_bpe._apply_merges"),
    "additive_attention": (SCORES, "course_lib.attention.additive_scores"),
    "encoder_layer": (LAYER, "course_lib.nn.layers.EncoderLayer"),
    "online_softmax": (ONE_PASS, "course_lib.lessons.tile_steps.record_tiles"),
    "tiled_attention": (TILES, "course_lib.lessons.tile_steps.record_tiles"),
    "tiled_attention row by row": (
        ROW_BY_ROW,
        "course_lib.experiments.attention_memory.plain_attention",
    ),
    "beam_search": (TREE, "course_lib.lessons.beam_tree.record_beam_search"),
}


def test_what_answers_with_some_code_around_it_is_flagged(engine):
    for key, (text, what) in WITH_CODE_AROUND.items():
        name = key.partition(" ")[0]
        if name in engine.release.exercises:
            ((points, flags),) = judged(engine, {name: text}).values()
            assert points > 1, key
            assert what in flags, key


def test_functions_of_the_course_that_exercises_name_exist():
    for exercise in exercises_of():
        for name in exercise.library:
            if name.startswith("course_lib."):
                module, _, function = name.rpartition(".")
                assert hasattr(importlib.import_module(module), function), name
