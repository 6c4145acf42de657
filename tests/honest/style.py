"""Right answers written in many ways: other formulas, loops, and much of the language.

What the exercise's name is bound to is in ``objects``, what comes back in ``values``.
"""

from tests.honest import honest
from tests.honest.writing import change, on_top, typed
from tests.submissions import EXERCISES, Submission


@honest
def nothing_special(submission: Submission) -> None:
    pass


@honest
def docstrings_deleted(submission: Submission) -> None:
    for name in EXERCISES:
        head, _, body = submission.cell(name).source.split('"""')
        submission.answer(name, head.rstrip() + body)


@honest
def docstring_rewritten(submission: Submission) -> None:
    head, _, body = submission.cell("softmax").source.split('"""')
    words = (
        "'''Meine Notizen: e hoch Punkte, geteilt durch die Summe (\\\"Anteile\\\").'''"
    )
    submission.answer("softmax", head + words + body)


@honest
def stub_comment_kept_below_the_answer(submission: Submission) -> None:
    end = "    raise NotImplementedError  # replace this line with your answer"
    for name in EXERCISES:
        submission.answer(name, f"{submission.cell(name).source}\n{end}")


@honest
def comments_everywhere(submission: Submission) -> None:
    on_top(submission, "softmax", "# TODO: ask in class why this works!! %%time ?\n#\n")
    change(submission, "softmax", "shifted =", "# !ls\n    #\n    shifted =")


@honest
def loops(submission: Submission) -> None:
    submission.answer(
        "scaled_scores",
        typed("""
            def scaled_scores(q, k):
                if q.ndim > 2:
                    result = []
                    for i in range(len(q)):
                        result.append(scaled_scores(q[i], k[i]))
                    return np.array(result)
                scores = np.zeros((len(q), len(k)))
                for i in range(len(q)):
                    for j in range(len(k)):
                        for c in range(q.shape[1]):
                            scores[i, j] += 1.0 * q[i, c] * k[j, c]
                return scores / np.sqrt(q.shape[1])
        """),
    )


@honest
def einsum(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            def attention(q, k, v):
                scores = np.einsum("...nd,...md->...nm", q, k, optimize=True)
                weights = softmax(scores / np.sqrt(k.shape[-1]))
                return np.einsum("...nm,...md->...nd", weights, v), weights
        """),
    )


@honest
def recursion(submission: Submission) -> None:
    submission.answer(
        "softmax",
        typed("""
            def softmax(x, axis=-1):
                def total(parts):
                    if len(parts) == 1:
                        return parts[0]
                    middle = len(parts) // 2
                    return total(parts[:middle]) + total(parts[middle:])

                powers = np.exp(1.0 * x - x.max(axis, keepdims=True))
                sums = total(np.moveaxis(powers, axis, 0))
                return powers / np.expand_dims(sums, axis)
        """),
    )


@honest
def fancy_type_hints(submission: Submission) -> None:
    submission.answer(
        "softmax",
        typed("""
            from __future__ import annotations

            from typing import Annotated, TypeAlias, TypeVar

            import numpy.typing as npt

            F = TypeVar("F", bound=np.floating)
            Scores: TypeAlias = "npt.NDArray[F] | Missing"


            def softmax(x: Scores, axis: Annotated[int, "last"] = -1) -> NotDefined[F]:
                powers: npt.NDArray[F] = np.exp(1.0 * x - x.max(axis, keepdims=True))
                total: Undefined
                total = powers.sum(axis, keepdims=True)
                return powers / total
        """),
    )


@honest
def dataclasses_and_enums_inside(submission: Submission) -> None:
    submission.answer(
        "attention_step_by_step",
        typed("""
            import enum
            from dataclasses import asdict, dataclass, field


            class Axis(enum.IntEnum):
                KEYS = 0
                LAST = -1


            @dataclass(kw_only=True)
            class Steps:
                scores: np.ndarray
                d_k: int
                extra: list = field(default_factory=list)


            def attention_step_by_step(q1, k, v):
                steps = Steps(scores=k @ q1, d_k=q1.shape[Axis.LAST])
                result = asdict(steps)
                result["scaled"] = steps.scores / result.pop("d_k") ** 0.5
                result["weights"] = softmax(result["scaled"])
                result["weighted_values"] = result["weights"][:, None] * v
                result["output"] = result["weighted_values"].sum(Axis.KEYS)
                del result["extra"]
                return result
        """),
    )


@honest
def match_and_walrus(submission: Submission) -> None:
    submission.answer(
        "softmax_jacobian",
        typed("""
            def softmax_jacobian(p):
                match p.shape:
                    case (n,):
                        return np.diag(p) - np.outer(p, p)
                    case (*_, n) if (rows := p.reshape(-1, n)) is not None:
                        tables = [softmax_jacobian(row) for row in rows]
                        return np.array(tables).reshape(*p.shape, n)
        """),
    )


@honest
def generator_used_inside(submission: Submission) -> None:
    submission.answer(
        "softmax_jacobian",
        typed("""
            def tables(p):
                for row in p.reshape(-1, p.shape[-1]):
                    yield np.diag(row) - row[:, None] * row


            def softmax_jacobian(p):
                return np.stack([*tables(p)]).reshape(*p.shape, -1)
        """),
    )


@honest
def torch_inside(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            import torch


            @torch.no_grad()
            def attention(q, k, v):
                q, k, v = (torch.tensor(part).double() for part in (q, k, v))
                scores = q @ k.transpose(-1, -2) / k.size(-1) ** 0.5
                powers = (scores - scores.amax(-1, keepdim=True)).exp()
                weights = powers / powers.sum(-1, keepdim=True)
                return (weights @ v).numpy(), weights.numpy()
        """),
    )


@honest
def derivative_by_autograd(submission: Submission) -> None:
    submission.answer(
        "softmax_jacobian",
        typed("""
            import torch


            def softmax_jacobian(p):
                def weights(scores):
                    return scores.exp() / scores.exp().sum()

                def one(row):
                    if (row == 0).any():  # the logarithm of 0
                        return np.diag(row) - np.outer(row, row)
                    scores = torch.from_numpy(row).log().requires_grad_()
                    slopes = torch.autograd.functional.jacobian(weights, scores)
                    return slopes.detach().numpy()

                rows = [one(row) for row in p.reshape(-1, p.shape[-1])]
                return np.array(rows).reshape(*p.shape, p.shape[-1])
        """),
    )
