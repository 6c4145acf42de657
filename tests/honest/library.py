"""What is near a library's functions and answers nothing: no mark for review."""

from tests.honest import honest
from tests.honest.writing import typed
from tests.submissions import Submission


@honest
def own_function_compiled_under_a_librarys_name(submission: Submission) -> None:
    # TorchScript and the profiler tell of it by the name that the learner gave it.
    submission.answer(
        "attention",
        typed("""
            import torch


            @torch.jit.script
            def scaled_dot_product_attention(q, k, v):
                scores = q @ k.transpose(-1, -2) / k.size(-1) ** 0.5
                powers = (scores - scores.amax(-1, keepdim=True)).exp()
                weights = powers / powers.sum(-1, keepdim=True)
                return weights @ v, weights


            def attention(q, k, v):
                rows = [torch.tensor(part).double() for part in (q, k, v)]
                output, weights = scaled_dot_product_attention(*rows)
                return output.numpy(), weights.numpy()
        """),
    )
    submission.answer(
        "bilinear_scores",
        typed("""
            import torch


            class bilinear(torch.autograd.Function):
                @staticmethod
                def forward(ctx, q, k, w):
                    return q @ w @ k.transpose(-1, -2)


            def bilinear_scores(q, k, w):
                rows = [torch.tensor(part).double() for part in (q, k, w)]
                with torch.profiler.record_function("bilinear"):
                    return bilinear.apply(*rows).numpy()
        """),
    )


@honest
def modules_reloaded_in_a_scratch_cell(submission: Submission) -> None:
    # What the course's functions tell of their calls stands in their text.
    submission.own(
        typed("""
            %load_ext autoreload
            %autoreload 2
            import importlib
            import json

            import course_lib.attention
            import matplotlib.ticker

            importlib.reload(course_lib.attention)
            importlib.reload(course_lib.figures)
            importlib.reload(json)
            importlib.reload(matplotlib.ticker)
            from course_lib import figures
        """),
        below="dot-product-attention-2",
    )


@honest
def library_looked_at_in_a_scratch_cell(submission: Submission) -> None:
    submission.own(
        typed("""
            import numpy as np
            import torch

            print("torch._C has", len(dir(torch._C)), "names; torch.ops:", torch.ops)
            for function in (torch.softmax, torch._softmax):
                print(function, getattr(function, "__closure__", None))
            torch._C._get_default_device()
            [name for name in dir(torch._C) if "softmax" in name]
        """),
        below="dot-product-attention-2",
    )


@honest
def answers_compared_with_autograd(submission: Submission) -> None:
    submission.own(
        typed("""
            import torch

            x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
            weights = torch.softmax(x, 0)
            slopes = torch.autograd.functional.jacobian(lambda x: x.softmax(0), x)
            assert np.allclose(softmax_jacobian(softmax(x.detach().numpy())), slopes)
            weights[0].backward()
            assert np.allclose(slopes[0], x.grad)
        """)
    )
