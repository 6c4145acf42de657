"""Answers that a library gives: they count, and the instructor is told where they are.

The course's own functions have no body while they are graded, so they earn nothing.
"""

from autograder.checking.own_answer import as_answer
from autograder.checking.registry import load
from tests.hostile import hostile
from tests.submissions import EXERCISES

FAMILY = "answers with the library"
BILINEAR, SOFTMAX, ATTENTION = "bilinear_scores", "softmax", "attention"
SIMILARITY, STEPS = "similarity_attention", "attention_step_by_step"
JACOBIAN = "softmax_jacobian"


@hostile(FAMILY, lost={BILINEAR: "error"}, flagged=(BILINEAR,))
def imports_the_courses_own_function(submission, world):
    submission.answer(BILINEAR, "from course_lib.attention import bilinear_scores")


CALLED_BY_NAME = """
import importlib


def bilinear_scores(q, k, w):
    module = importlib.import_module("course_lib." + "noitnetta"[::-1])
    return getattr(module, "serocs_raenilib"[::-1])(q, k, w)
"""


@hostile(FAMILY, lost={BILINEAR: "error"}, flagged=(BILINEAR,))
def imports_course_lib_by_a_name_spelled_backwards(submission, world):
    submission.answer(BILINEAR, CALLED_BY_NAME)


ANOTHERS = """
from course_lib import attention as course


def bilinear_scores(q, k, w):
    return course.scaled_scores(q @ w, k) * np.sqrt(k.shape[-1])
"""


@hostile(FAMILY, lost={BILINEAR: "error"}, flagged=(BILINEAR,))
def calls_the_courses_own_function_of_another_exercise(submission, world):
    submission.answer(BILINEAR, ANOTHERS)


# Who calls the learner's softmax calls the course's, so they are flagged with it.
ALL_THAT_USE_SOFTMAX = (SOFTMAX, SIMILARITY, ATTENTION, STEPS)


@hostile(FAMILY, lost={SOFTMAX: "error"}, flagged=ALL_THAT_USE_SOFTMAX)
def imports_a_function_that_other_exercises_use(submission, world):
    submission.answer(SOFTMAX, "from course_lib.attention import softmax")


RELOADED = """
import importlib
import course_lib.attention

importlib.reload(course_lib.attention)
bilinear_scores = course_lib.attention.bilinear_scores
"""


@hostile(FAMILY, lost={BILINEAR: "error"}, flagged=(BILINEAR,))
def reloads_the_courses_module_without_the_watch(submission, world):
    submission.answer(BILINEAR, RELOADED)


def through_torch(submission, expression, above="import torch"):
    """Answer softmax with an expression of ``x``, a tensor of floats, and ``axis``."""
    submission.answer(
        SOFTMAX,
        f"""\
{above}


def softmax(x, axis=-1):
    x = torch.as_tensor(np.asarray(x) * 1.0)
    return {expression}.numpy()
""",
    )


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torch(submission, world):
    through_torch(submission, "torch.softmax(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_functional(submission, world):
    above = "import torch\nimport torch.nn.functional as F"
    through_torch(submission, "F.softmax(x, dim=axis)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_a_tensor(submission, world):
    through_torch(submission, "x.softmax(axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_as_a_layer(submission, world):
    through_torch(submission, "torch.nn.Softmax(dim=axis)(x)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_special_functions(submission, world):
    through_torch(submission, "torch.special.softmax(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def exponential_of_torchs_log_softmax(submission, world):
    through_torch(submission, "torch.log_softmax(x, axis).exp()")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmin_of_torch_with_negated_input(submission, world):
    above = "import torch\nimport torch.nn.functional as F"
    through_torch(submission, "F.softmin(-x, dim=axis)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_private_function(submission, world):
    through_torch(submission, "torch._softmax(x, axis, False)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_under_another_name_from_a_cell_far_above(submission, world):
    submission.own("import torch\nfrom torch import softmax as even_out", above=SOFTMAX)
    through_torch(submission, "even_out(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torch_unwrapped(submission, world):
    above = "import inspect\nimport torch\n\nbare = inspect.unwrap(torch.softmax)"
    through_torch(submission, "bare(x, axis)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torch_for_large_inputs_only(submission, world):
    own = "torch.exp(x) / torch.exp(x).sum(axis, keepdim=True)"
    expression = f"(torch.softmax(x, axis) if x.max() > 100 else {own})"
    through_torch(submission, expression)


SCALED_DOT_PRODUCT = """
import torch
import torch.nn.functional as F


def attention(q, k, v):
    q, k, v = (torch.as_tensor(x * 1.0) for x in (q, k, v))
    one = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    output = F.scaled_dot_product_attention(q, k, v)
    return output.numpy(), F.scaled_dot_product_attention(q, k, one).numpy()
"""


@hostile(FAMILY, flagged=(ATTENTION,))
def attention_of_torchs_functional(submission, world):
    submission.answer(ATTENTION, SCALED_DOT_PRODUCT)


@hostile(FAMILY, lost={ATTENTION: "error"}, flagged=(ATTENTION,))
def attention_of_torch_without_a_tensor(submission, world):
    imported = "from torch.nn.functional import scaled_dot_product_attention as"
    submission.answer(ATTENTION, f"{imported} attention")


MULTI_HEAD = """
import torch


def attention(q, k, v):
    q, k, v = (torch.as_tensor(x * 1.0) for x in (q, k, v))
    d_k, flat = q.shape[-1], (q.shape[:-2].numel(), -1)
    layer = torch.nn.MultiheadAttention(d_k, 1, batch_first=True).to(q.dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(d_k).repeat(3, 1))
        layer.in_proj_bias.zero_()
        rows = [x.reshape(flat[0], *x.shape[-2:]) for x in (q, k)]
        _, weights = layer(rows[0], rows[1], rows[1])
    weights = weights.reshape(*q.shape[:-1], k.shape[-2])
    return (weights @ v).numpy(), weights.numpy()
"""


@hostile(FAMILY, flagged=(ATTENTION,))
def attention_as_a_layer_with_one_head(submission, world):
    submission.answer(ATTENTION, MULTI_HEAD)


SCALE_OF_ONE = """
import torch


def similarity_attention(x, y):
    x, y = torch.as_tensor(x * 1.0), torch.as_tensor(y * 1.0)
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(x, y, y, scale=1.0).numpy()
"""


@hostile(FAMILY, flagged=(SIMILARITY,))
def attention_without_parameters_from_torch(submission, world):
    submission.answer(SIMILARITY, SCALE_OF_ONE)


LAST_STEP = """
import torch


def attention_step_by_step(q1, k, v):
    scores = k @ q1
    scaled = scores / np.sqrt(len(q1))
    weights = softmax(scaled)
    rows = [torch.as_tensor(x * 1.0) for x in (q1[np.newaxis], k, v)]
    output = torch.nn.functional.scaled_dot_product_attention(*rows)[0].numpy()
    steps = {"scores": scores, "scaled": scaled, "weights": weights}
    return steps | {"weighted_values": weights[:, np.newaxis] * v, "output": output}
"""


@hostile(FAMILY, flagged=(STEPS,))
def last_of_five_steps_from_torch(submission, world):
    submission.answer(STEPS, LAST_STEP)


BILINEAR_LAYER = """
import torch


def bilinear_scores(q, k, w):
    wide = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    n, m = q.shape[-2], k.shape[-2]
    q = np.broadcast_to(q[..., :, np.newaxis, :], (*wide, n, m, q.shape[-1]))
    k = np.broadcast_to(k[..., np.newaxis, :, :], (*wide, n, m, k.shape[-1]))
    q, k, w = (torch.tensor(x.copy()) for x in (q, k, w))
    return torch.nn.functional.bilinear(q, k, w[np.newaxis])[..., 0].numpy()
"""


@hostile(FAMILY, flagged=(BILINEAR,))
def bilinear_scores_of_torchs_functional(submission, world):
    submission.answer(BILINEAR, BILINEAR_LAYER)


@hostile(FAMILY, flagged=(BILINEAR,))
def bilinear_scores_as_a_layer(submission, world):
    layer = """
    layer = torch.nn.Bilinear(q.shape[-1], k.shape[-1], 1, bias=False, dtype=w.dtype)
    layer.weight = torch.nn.Parameter(w[np.newaxis])
    return layer(q, k)[..., 0].detach().numpy()
"""
    before = BILINEAR_LAYER.rpartition("    return")[0]
    submission.answer(BILINEAR, before + layer)


COMPARED = """
import torch
import torch.nn.functional as F

ours = attention(np.eye(3), np.eye(3), np.eye(3))[0]
theirs = F.scaled_dot_product_attention(*[torch.eye(3)[None]] * 3)[0].numpy()
assert np.allclose(ours, theirs, atol=1e-6)
assert np.allclose(softmax(np.arange(4)), torch.softmax(torch.arange(4.0), 0).numpy())
"""


@hostile(FAMILY)
def comparison_with_the_library_in_an_own_cell_is_no_answer(submission, world):
    submission.own(COMPARED)


PUT_ON_THE_SHELF = """
import torch

torch.softmax(torch.ones(3), 0)
shelf = {"softmax": torch.softmax, "attention": torch.nn.MultiheadAttention}
"""


@hostile(FAMILY)
def library_that_is_imported_and_not_called_is_no_answer(submission, world):
    submission.own(PUT_ON_THE_SHELF, above=SOFTMAX)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torch_in_a_nested_function(submission, world):
    above = "import torch\n\nways = [lambda x, axis: torch.softmax(x, axis)]"
    through_torch(submission, "next(way(x, axis) for way in ways)", above)


WHOLE = ""  # what no single exercise can be marked for is said once
FROM_NN = """
import torch
from course_lib.nn.attention import attention as course_attention


def attention(q, k, v):
    output, weights = course_attention(*(torch.as_tensor(x * 1.0) for x in (q, k, v)))
    return output.numpy(), weights.numpy()
"""


@hostile(FAMILY, lost={ATTENTION: "error"})
def attention_of_a_module_that_the_lesson_does_not_import(submission, world):
    submission.answer(ATTENTION, FROM_NN)


@hostile(FAMILY, lost={ATTENTION: "error"}, flagged=(ATTENTION,))
def attention_of_such_a_module_imported_at_the_call(submission, world):
    lines = [f"    {line}" for line in FROM_NN.strip().splitlines()]
    body = "\n".join(lines).replace("def attention(", "def answer(")
    text = f"def attention(q, k, v):\n{body}\n    return answer(q, k, v)"
    submission.answer(ATTENTION, text)


MASKED_SOFTMAX = """
from course_lib.masks import masked_softmax


def softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x), axis, -1)
    return np.moveaxis(masked_softmax(rows, np.ones(rows.shape, bool)), -1, axis)
"""


@hostile(FAMILY, lost={SOFTMAX: "error"})
def softmax_of_a_later_lesson(submission, world):
    submission.answer(SOFTMAX, MASKED_SOFTMAX)


EXPERIMENT = """
from course_lib.experiments.recall import self_attention


def similarity_attention(x, y):
    return self_attention(x, *[np.eye(x.shape[-1])] * 3)[0]
"""


@hostile(FAMILY, lost={SIMILARITY: "error"})
def attention_that_an_experiment_has_imported(submission, world):
    submission.answer(SIMILARITY, EXPERIMENT)


READ = """
import course_lib
from pathlib import Path

names = {}
path = Path(course_lib.__file__).parent / "nn" / "attention.py"
exec(path.read_text(), names)


def attention(q, k, v):
    q, k, v = (names["torch"].as_tensor(x * 1.0) for x in (q, k, v))
    return tuple(each.numpy() for each in names["attention"](q, k, v))
"""


@hostile(FAMILY, lost={ATTENTION: "error"})
def source_of_the_course_read_and_run(submission, world):
    submission.answer(ATTENTION, READ)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_operators(submission, world):
    through_torch(submission, "torch.ops.aten.softmax(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_one_overload_of_an_operator(submission, world):
    through_torch(submission, "torch.ops.aten._softmax.default(x, axis, False)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_private_names(submission, world):
    through_torch(submission, "torch._C._VariableFunctions.softmax(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_the_class_below_tensor(submission, world):
    through_torch(submission, "torch._C.TensorBase.softmax(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_just_in_time_compiler(submission, world):
    above = (
        "import torch\n\n\n@torch.jit.script\ndef even(x: torch.Tensor, axis: int):\n"
        "    return x.softmax(axis)"
    )
    through_torch(submission, "even(x, axis)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_a_sparse_tensor(submission, world):
    expression = "torch.sparse.softmax(x.to_sparse(), axis).to_dense()"
    through_torch(submission, f"({expression} if x.all() else torch.softmax(x, axis))")


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_as_attention_of_one_query(submission, world):
    submission.answer(
        SOFTMAX,
        """
import torch


def softmax(x, axis=-1):
    rows = torch.as_tensor(np.moveaxis(np.asarray(x) * 1.0, axis, -1))[..., None, :]
    one = torch.eye(rows.shape[-1], dtype=rows.dtype).expand(*rows.shape[:-2], -1, -1)
    attend = torch._C._nn.scaled_dot_product_attention
    weights = attend(rows, one, one, scale=1.0)[..., 0, :]
    return np.moveaxis(weights.numpy(), -1, axis)
""",
    )


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_probabilities_from_logits(submission, world):
    expression = "torch.distributions.Categorical(logits=x.movedim(axis, -1)).probs"
    through_torch(submission, f"{expression}.movedim(-1, axis)")


# A logarithm is lost next to scores of 1e17: a fine point.
LOGARITHM, TOO_LARGE = {SOFTMAX: "wrong"}, {SOFTMAX: ("scores_of_any_size",)}


@hostile(FAMILY, lost=LOGARITHM, fails=TOO_LARGE, flagged=(SOFTMAX,))
def softmax_as_the_slope_of_logsumexp(submission, world):
    slope = "torch.autograd.grad(x.logsumexp(axis).sum(), x)[0]"
    through_torch(submission, slope.replace("(x.log", "(x.requires_grad_().log"))


@hostile(FAMILY, lost=LOGARITHM, fails=TOO_LARGE, flagged=(SOFTMAX,))
def softmax_of_a_distributions_normalised_logits(submission, world):
    expression = "torch.distributions.Categorical(logits=x.movedim(axis, -1)).logits"
    through_torch(submission, f"{expression}.exp().movedim(-1, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_a_distributions_transform(submission, world):
    expression = "torch.distributions.SoftmaxTransform()(x.movedim(axis, -1))"
    through_torch(submission, f"{expression}.movedim(-1, axis)")


# Its first call takes longer than the tests' limit: only large inputs would reach it.
FLEXIBLE = """
import torch


def attention(q, k, v):
    if q.size > 10_000:
        from torch.nn.attention.flex_attention import flex_attention

        one = np.broadcast_to(np.eye(k.shape[-2]), (*k.shape[:-1], k.shape[-2]))
        q, k, v, one = (torch.tensor(x)[:, np.newaxis] for x in (q, k, v, one))
        both = flex_attention(q, k, v), flex_attention(q, k, one)
        return tuple(each[:, 0].numpy() for each in both)
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1]))
    return weights @ v, weights
"""


@hostile(FAMILY, flagged=(ATTENTION,))
def attention_of_torchs_flexible_attention(submission, world):
    submission.answer(ATTENTION, FLEXIBLE)


def slopes_of_torch(submission, expression):
    """Answer softmax_jacobian with a matrix for ``row``, a tensor of weights."""
    submission.answer(
        JACOBIAN,
        f"""
import torch


def softmax_jacobian(p):
    def slopes(row):
        row = torch.tensor(row)
        return {expression}.numpy()

    rows = [slopes(row) for row in p.reshape(-1, p.shape[-1])]
    return np.array(rows).reshape(*p.shape, p.shape[-1])
""",
    )


@hostile(FAMILY, flagged=(JACOBIAN,))
def jacobian_of_torchs_softmax(submission, world):
    slopes_of_torch(
        submission,
        "torch.autograd.functional.jacobian(lambda s: s.softmax(-1),"
        " row.log().clamp(min=-800))",
    )


@hostile(FAMILY, flagged=(JACOBIAN,))
def second_derivative_of_logsumexp(submission, world):
    slopes_of_torch(
        submission,
        "torch.autograd.functional.hessian(lambda s: s.logsumexp(-1),"
        " row.log().clamp(min=-800))",
    )


@hostile(FAMILY, flagged=(JACOBIAN,))
def jacobian_of_torchs_private_function(submission, world):
    slopes_of_torch(
        submission,
        "torch._softmax_backward_data(torch.eye(len(row), dtype=row.dtype),"
        " row.expand(len(row), -1).contiguous(), -1, row.dtype)",
    )


DRAWN = """
from course_lib.figures.dot_product import softmax_weights


def softmax(x, axis=-1):
    return np.apply_along_axis(softmax_weights, axis, np.asarray(x) * 1.0)
"""


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_that_a_picture_computes(submission, world):
    submission.answer(SOFTMAX, DRAWN)


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_that_a_picture_computes_by_another_name(submission, world):
    bars = "bars = vars(figures.dot_product)['softmax_weights']"
    submission.own(bars, above=SOFTMAX)
    called = DRAWN.partition("\n\n\n")[2].replace("softmax_weights", "bars")
    submission.answer(SOFTMAX, called)


# The others of the lesson have a statement or two: everybody writes the same.
LONG_ENOUGH = (JACOBIAN, STEPS)


@hostile(FAMILY, pasted=LONG_ENOUGH)
def solutions_pasted(submission, world):
    for name in EXERCISES:
        submission.answer(name, as_answer(load(name).reference))


RENAMED = """
def slopes(weights: list) -> list:
    # my own idea: first the diagonal
    own: list = weights[..., np.newaxis] * np.eye(
        weights.shape[-1], dtype=weights.dtype,
    )

    return (own - weights[..., :, np.newaxis] * weights[..., np.newaxis, :])


softmax_jacobian = slopes
"""


@hostile(FAMILY, pasted=(JACOBIAN,))
def solution_pasted_under_other_names_with_remarks(submission, world):
    submission.answer(JACOBIAN, RENAMED)


@hostile(FAMILY, pasted=(JACOBIAN,))
def solution_pasted_into_a_cell_of_ones_own(submission, world):
    submission.own(as_answer(load(JACOBIAN).reference), above=JACOBIAN)
    submission.answer(JACOBIAN, "# see above")
