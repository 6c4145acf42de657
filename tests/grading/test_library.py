"""A library's function that answers an exercise works, and is written down."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from autograder.checking.registry import load
from autograder.grading.inside import library
from tests.grading.sessions import call, check, own, session_of, solution

pytestmark = [pytest.mark.sandbox, pytest.mark.alone]
OWN = f"{load('softmax').reference.__module__}.softmax"


def flags(sandbox, name, text, *arguments):
    """Call an answer once; give its outcome and what was flagged."""
    with session_of(sandbox, solution(name, text), check(name)) as session:
        outcome = call(session, name, *arguments)
        flagged = {(flag.exercise, flag.what, flag.line) for flag in session.flags}
    return outcome, flagged


SOFTMAX = "import torch\ndef softmax(x):\n    y = torch.as_tensor(x)\n    return {}"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("torch.softmax(y, -1).tolist()", "torch.softmax"),
        ("y.softmax(-1).tolist()", "torch.Tensor.softmax"),
        ("torch.nn.functional.softmax(y, -1).tolist()", "torch.nn.functional.softmax"),
        ("torch.nn.Softmax(-1)(y).tolist()", "torch.nn.Softmax"),
        ("torch.special.softmax(y, -1).tolist()", "torch.special.softmax"),
    ],
)
def test_library_call_is_flagged_with_the_learners_line(sandbox, line, what):
    outcome, flagged = flags(sandbox, "softmax", SOFTMAX.format(line), [0.0, 0.0])
    assert outcome.value == [0.5, 0.5]
    assert ("softmax", what, f"return {line}") in flagged


def test_library_function_under_another_name_is_flagged(sandbox):
    text = (
        "from torch.nn.functional import softmax as exponentials\nimport torch\n"
        "def softmax(x):\n    return exponentials(torch.as_tensor(x), -1).tolist()"
    )
    _, flagged = flags(sandbox, "softmax", text, [0.0])
    assert "torch.nn.functional.softmax" in {what for _, what, _ in flagged}


def test_flag_has_the_line_of_another_cells_function(sandbox):
    cells = (
        own("import torch\ndef mine(x):\n    return torch.softmax(x, -1)"),
        solution("softmax", "def softmax(x):\n    return mine(torch.tensor(x))"),
        check("softmax"),
    )
    with session_of(sandbox, *cells) as session:
        call(session, "softmax", [0.0])
        assert {flag.line for flag in session.flags} == {"return torch.softmax(x, -1)"}


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ndef softmax(x):\n    return x\ntorch.softmax(torch.ones(2), -1)",
        "def softmax(x):\n    'like torch.softmax(x)'\n    return x  # torch.softmax",
        "import numpy as np\ndef softmax(x):\n    return np.exp(x) / np.exp(x).sum()",
        "import torch\ndef softmax(x):\n    return torch.exp(torch.as_tensor(x))",
    ],
    ids=["called in the cell alone", "named in a text", "NumPy", "another function"],
)
def test_own_answer_is_not_flagged(sandbox, text):
    outcome, flagged = flags(sandbox, "softmax", text, [0.0])
    assert outcome.kind == "value"
    assert flagged == set()


@pytest.mark.parametrize(
    "line",
    [
        "return torch.nn.functional.softmax(y, -1).tolist()",
        "return torch.autograd.functional.jacobian(torch.exp, y).tolist()",
        "import subprocess; subprocess.run('true')",
    ],
)
def test_one_line_is_flagged_once(sandbox, line):
    # What a library's function calls in its turn is no second mark.
    text = SOFTMAX.replace("return {}", line)
    _, flagged = flags(sandbox, "softmax", text, [0.0, 0.0])
    assert len(flagged) == 1


def test_library_answer_may_be_used_in_another_exercise(sandbox):
    text = "import torch\ndef attention(q):\n    return torch.softmax(q, -1).tolist()"
    outcome, flagged = flags(sandbox, "attention", text, torch.zeros(2))
    assert outcome.value == [0.5, 0.5]
    assert flagged == set()


@pytest.mark.parametrize(
    "text",
    [
        "from course_lib.attention import softmax",
        "import course_lib.attention as c\ndef softmax(x):\n    return c.softmax(x)",
        "from course_lib import attention\nsoftmax = lambda x: attention.softmax(x)",
        "import functools, course_lib.attention\n"
        "softmax = functools.partial(course_lib.attention.softmax)",
        f"from {OWN.removesuffix('.softmax')} import softmax",
    ],
    ids=["imported elsewhere", "wrapped", "lambda", "partial", "imported"],
)
def test_course_lib_function_raises_and_is_flagged(sandbox, text):
    outcome, flagged = flags(sandbox, "softmax", text, [0.0])
    assert outcome.raised.types[0] == "RuntimeError"
    assert "cannot be called while softmax is graded" in outcome.raised.message
    assert outcome.raised.function in ("", "softmax", "<lambda>")  # no line of ours
    assert {what for _, what, _ in flagged} == {OWN}


def test_course_lib_function_is_flagged_in_any_exercise(sandbox):
    text = (
        "import course_lib.attention as c\ndef attention(q):\n    return c.softmax(q)"
    )
    outcome, flagged = flags(sandbox, "attention", text, [0.0])
    assert outcome.kind == "raised"
    assert flagged == {("attention", OWN, "return c.softmax(q)")}


def test_source_of_course_lib_function_is_not_there(sandbox):
    module = OWN.removesuffix(".softmax")
    text = (
        f"import inspect, sys, {module}\n"
        f"def softmax(x):\n    return inspect.getsource(sys.modules[{module!r}])"
    )
    outcome, _ = flags(sandbox, "softmax", text, [0.0])
    body = outcome.value.partition("def softmax(")[2].split('"""')[2]
    assert "exp" not in body.partition("def ")[0]
    assert "raise RuntimeError" in body.partition("def ")[0]


def test_watched_layers_work_outside_of_judged_calls(sandbox):
    text = """
    import torch
    layer = torch.nn.MultiheadAttention(4, 2)
    x = torch.zeros(3, 1, 4)
    def f():
        total = torch.nn.Softmax(0)(x).sum().round().item()
        return list(layer(x, x, x)[0].shape), total
    """
    with session_of(sandbox, own(text), check("f")) as session:
        assert call(session, "f").value == ([3, 1, 4], 4.0)
        assert session.flags == set()


def test_call_that_ends_badly_is_flagged(sandbox):
    text = (
        "import torch\ndef softmax(x):\n    torch.softmax(torch.zeros(2), -1)\n"
        "    raise ValueError"
    )
    outcome, flagged = flags(sandbox, "softmax", text, [0.0])
    assert outcome.raised.types[0] == "ValueError"
    assert {what for _, what, _ in flagged} == {"torch.softmax"}


def test_call_with_too_large_result_is_flagged(sandbox):
    text = (
        "import torch\ndef softmax(x):\n    torch.softmax(torch.zeros(2), -1)\n"
        "    return 'x' * (5 << 20)"
    )
    outcome, flagged = flags(sandbox, "softmax", text, [0.0])
    assert outcome.kind == "output"
    assert {what for _, what, _ in flagged} == {"torch.softmax"}


# Exercises with ways to the operators that answer them, and the name that is reported.
BELOW = {
    "softmax": ("torch.ops.aten.softmax(x, -1)", "torch.softmax"),
    "layer_norm": (
        "torch._C._VariableFunctions.layer_norm(x, (4,))",
        "torch.layer_norm",
    ),
    "attention": (
        "torch._C._nn.scaled_dot_product_attention(x, x, x)",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    "luong_score": (
        "torch.ops.aten._trilinear(*[x] * 3, [], [], [], [])",
        "torch.nn.functional.bilinear",
    ),
    "gru_step": (
        "torch.ops.aten.gru_cell(x, x, torch.ones(12, 4), torch.ones(12, 4))",
        "torch.gru_cell",
    ),
    "cross_entropy": (
        "torch.ops.aten.nll_loss(x, torch.tensor([0, 1, 2]))",
        "torch.nn.functional.nll_loss",
    ),
    "self_attention_gradients": (
        "torch.autograd.Variable._execution_engine.run_backward((x.requires_grad_().sum"
        "(),), (torch.ones(()),), False, False, (), accumulate_grad=True)",
        "torch.autograd.grad",
    ),
    "count_parameters": (
        "torch.nn.MultiheadAttention(4, 2)",
        "torch.nn.MultiheadAttention",
    ),
    "count_transformer": (
        "torch.nn.Transformer(4, 2, 1, 1, 8)",
        "torch.nn.Transformer",
    ),
    "masked_softmax": (
        "torch.sparse.softmax(x.to_sparse(), -1)",
        "torch.sparse.softmax",
    ),
    "softmax_jacobian": (
        "torch.func.hessian(lambda row: row.logsumexp(0))(x[0])",
        "torch.logsumexp",
    ),
    "online_softmax": ("torch.ops.aten.logcumsumexp(x, -1)", "torch.logcumsumexp"),
    "causal_mask": (
        "torch.nn.Transformer.generate_square_subsequent_mask(3)",
        "torch.nn.modules.transformer._generate_square_subsequent_mask",
    ),
    "feed_forward": (
        "torch.nn.TransformerEncoderLayer._ff_block(torch.nn.Identity(), x)",
        "torch.nn.TransformerEncoderLayer._ff_block",
    ),
}
OF_LAYERS = ("TransformerEncoderLayer", "TransformerDecoderLayer", "MultiheadAttention")
ALSO = [
    *(
        (
            "count_transformer",
            f"torch.nn.{name}(4, 1, device='meta')",
            f"torch.nn.{name}",
        )
        for name in OF_LAYERS
    ),
    *(
        (
            "masked_softmax",
            f"torch.masked.{name}(x, x > 0)",
            "torch.masked.MaskedTensor",
        )
        for name in ("masked_tensor", "as_masked_tensor", "MaskedTensor")
    ),
    ("masked_softmax", "torch.masked.softmax(x, -1)", "torch.masked.softmax"),
    (
        "masked_softmax",
        "torch.func.grad(lambda x: x.logsumexp(-1).sum())(x)",
        "torch.autograd.grad",
    ),
    (
        "softmax",
        "torch.distributions.OneHotCategorical(logits=x).logits",
        "torch.distributions.Categorical",
    ),
    (
        "softmax_jacobian",
        "torch.autograd.functional.jacobian(lambda x: x.softmax(0), x[0])",
        "torch.softmax",
    ),
    (
        "decode",
        "__import__('tokenizers').decoders.BPEDecoder()",
        "tokenizers.Tokenizer",
    ),
    ("merge_pair", "__import__('tokenizers').models.BPE()", "tokenizers.Tokenizer"),
]
WATCHED = """
import contextlib, json, sys, torch
from inside import library

functions, below = json.loads(sys.stdin.read())
calls = library.watch(functions)
for exercise, expression, _ in below:
    texts = {exercise: expression} if "tokenizers" in expression else {}
    calls.start({}, texts)
    x = torch.rand(3, 4, dtype=torch.float32)
    calls.begin(exercise)
    with contextlib.suppress(AttributeError):  # a layer without its parts
        eval(expression, {"torch": torch, "x": x})
    print(json.dumps([name for name, _ in calls.end()]))
calls.begin("softmax")
torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)
assert calls.end() == []
calls.begin("attention")
torch.softmax(x @ x.T, -1) @ x
assert calls.end() == []
calls.begin("layer_norm")
with torch.profiler.record_function("layer_norm"):  # so named by the learner
    (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
assert calls.end() == []
"""


def test_operators_are_noticed_below_their_names():
    below = [(name, *each) for name, each in BELOW.items()] + ALSO
    functions = {name: [*load(name).library] for name, *_ in below}
    inside = str(Path(library.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps([functions, below]),
        env={**os.environ, "PYTHONPATH": inside},
        capture_output=True,
        text=True,
    )
    noticed = map(json.loads, ran.stdout.splitlines())
    assert ran.returncode == 0, ran.stderr
    for (name, expression, expected), names in zip(below, noticed, strict=True):
        assert expected in names, (name, expression)


def test_process_and_modules_loaded_anew_are_flagged(sandbox):
    text = """
    import os, importlib, torch
    def softmax(x):
        if x:
            return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]
        return importlib.reload(torch.nn.modules.activation).__name__
    """
    _, flagged = flags(sandbox, "softmax", textwrap.dedent(text), True)
    assert {what for _, what, _ in flagged} == {"os.posix_spawn"}
    _, flagged = flags(sandbox, "softmax", textwrap.dedent(text), False)
    assert {what for _, what, _ in flagged} == {"importlib"}


def test_words_in_a_comment_are_not_flagged(sandbox):
    text = "def softmax(x):\n    return x  # not torch._C, nor torch.ops"
    _, flagged = flags(sandbox, "softmax", text, [0.0])
    assert flagged == set()


def test_words_in_a_cell_that_no_answer_needs_are_not_flagged(sandbox):
    cells = (
        own("import torch\nshelf = torch._C"),
        own("import torch as bare\nf = bare.Tensor.__closure__ if False else None"),
        solution("softmax", "def softmax(x):\n    return f"),
        check("softmax"),
    )
    with session_of(sandbox, *cells) as session:
        call(session, "softmax", [0.0])
        assert {flag.what for flag in session.flags} == {"__closure__"}


# Answers that name what a library computes in Python, the exercise they would answer,
# and what is recorded.
NAMED = [
    (
        "masked_softmax",
        "import torch\ndef masked_softmax(x):\n    torch._masked_softmax",
        "torch._*",
    ),
    (
        "convert_mask",
        "from torch.nn.functional import _canonical_mask as convert_mask",
        "torch._*",
    ),
    (
        "causal_mask",
        "from torch.nn import attention\ndef causal_mask(n):\n"
        "    attention.bias.causal_lower_right(n, n)",
        "torch.nn.attention",
    ),
    (
        "attention",
        "import torch\ndef attention(q):\n    torch.onnx.ops.attention",
        "torch.onnx",
    ),
    (
        "layer_norm",
        "import torch as t\ndef layer_norm(x):\n    t._refs.native_layer_norm",
        "torch._*",
    ),
    *(
        (name, f"import subword_nmt.learn_bpe as l\n{name} = print", "subword_nmt")
        for name in (
            "word_counts",
            "pair_counts",
            "merge_pair",
            "train_bpe",
            "encode_word",
        )
    ),
]


@pytest.mark.parametrize(("name", "text", "what"), NAMED)
def test_answer_through_a_library_is_flagged(sandbox, name, text, what):
    _, flagged = flags(sandbox, name, text, 3)
    assert what in {what for _, what, _ in flagged}


@pytest.mark.parametrize(
    "line",
    [
        "torch.logsumexp(x, -1)",
        "(x - x.logsumexp(-1, keepdim=True)).exp()",
        "torch.einsum('ij,kj->ik', x, x)",
        "torch.nn.Module().__class__",
        "type('Own', (), {'_kept': x})()._kept",
    ],
)
def test_elementary_functions_are_not_flagged(sandbox, line):
    text = f"import torch\ndef softmax(x):\n    x = torch.ones(2, 2)\n    {line}"
    _, flagged = flags(sandbox, "softmax", text, 3)
    assert flagged == set()
