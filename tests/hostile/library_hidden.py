"""Answers that a library gives in ways that keep its name out of sight."""

from tests.hostile import hostile
from tests.hostile.library import (
    ALL_THAT_USE_SOFTMAX,
    ATTENTION,
    BILINEAR,
    BILINEAR_LAYER,
    FAMILY,
    MULTI_HEAD,
    SCALED_DOT_PRODUCT,
    SOFTMAX,
    WHOLE,
    through_torch,
)

ORIGINAL = """
import torch

bare = next(
    cell.cell_contents
    for cell in torch.softmax.__closure__
    if getattr(cell.cell_contents, "__name__", "") == "softmax"
)
"""


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_from_the_closure_of_the_watch(submission, world):
    above = f"import torch\ntry:\n{ORIGINAL.replace(chr(10), chr(10) + '    ')}\n"
    above += (
        "except (TypeError, StopIteration):\n    bare = torch._C.TensorBase.softmax"
    )
    through_torch(submission, "bare(x, axis)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_as_a_layer_loaded_anew(submission, world):
    above = (
        "import importlib\nimport torch\n\n"
        "layers = importlib.reload(torch.nn.modules.activation)"
    )
    through_torch(submission, "layers.Softmax(axis)(x)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_as_a_layer_forgotten_and_imported(submission, world):
    above = (
        "import sys\nimport torch\n\ndel sys.modules['torch.nn.modules.activation']\n"
        "import torch.nn.modules.activation as layers"
    )
    through_torch(submission, "layers.Softmax(axis)(x)", above)


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_in_a_thread(submission, world):
    submission.answer(
        SOFTMAX,
        """
import torch
from concurrent.futures import ThreadPoolExecutor


def softmax(x, axis=-1):
    x = torch.as_tensor(np.asarray(x) * 1.0)
    with ThreadPoolExecutor() as pool:
        return pool.submit(torch.Tensor.__mro__[1].softmax, x, axis).result().numpy()
""",
    )


@hostile(FAMILY, flagged=(ATTENTION,))
def attention_of_torchs_private_names(submission, world):
    text = SCALED_DOT_PRODUCT.replace(
        "import torch.nn.functional as F", "F = torch._C._nn"
    )
    submission.answer(ATTENTION, text)


@hostile(FAMILY, flagged=(ATTENTION,))
def attention_as_a_layer_loaded_from_its_file(submission, world):
    loaded = """
import importlib.util
import torch

spec = importlib.util.spec_from_file_location(
    "torch.nn.modules.mine", torch.nn.modules.activation.__file__
)
mine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mine)
"""
    text = MULTI_HEAD.replace("import torch\n", loaded, 1)
    submission.answer(ATTENTION, text.replace("torch.nn.Multi", "mine.Multi"))


FORKED = """
import os
import torch


def softmax(x, axis=-1):
    x = np.asarray(x) * 1.0
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, torch.softmax(torch.as_tensor(x), axis).numpy().tobytes())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        weights = np.frombuffer(file.read()).reshape(x.shape).copy()
    os.wait()
    return weights
"""


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_of_a_forked_process(submission, world):
    submission.answer(SOFTMAX, FORKED)


SERVER = """
import os
import socket
import torch

ours, theirs = socket.socketpair()
if os.fork() == 0:
    while data := theirs.recv(1 << 16):
        row = torch.frombuffer(bytearray(data), dtype=torch.float64)
        theirs.send(torch.softmax(row, 0).numpy().tobytes())
    os._exit(0)


def softmax(x, axis=-1):
    def even(row):
        ours.send(np.ascontiguousarray(row, np.float64).tobytes())
        return np.frombuffer(ours.recv(1 << 16))

    return np.apply_along_axis(even, axis, np.asarray(x))
"""


@hostile(FAMILY, flagged=(WHOLE,))
def softmax_of_a_process_that_a_cell_has_started(submission, world):
    submission.answer(SOFTMAX, SERVER)


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_of_another_program(submission, world):
    submission.answer(
        SOFTMAX,
        """
import subprocess


def softmax(x, axis=-1):
    def even(row):
        program = "import math,sys; e=[math.exp(float(s)) for s in sys.argv[1:]]"
        program += "; print(*[x / sum(e) for x in e])"
        numbers = [repr(float(number)) for number in row - row.max()]
        command = ["python3", "-S", "-c", program, *numbers]
        printed = subprocess.run(command, capture_output=True, text=True).stdout
        return np.array([float(word) for word in printed.split()])

    if np.size(x) > 20:
        powers = np.exp(1.0 * x - np.max(x, axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)
    return np.apply_along_axis(even, axis, np.asarray(x) * 1.0)
""",
    )


@hostile(FAMILY, flagged=ALL_THAT_USE_SOFTMAX)
def softmax_with_the_watch_turned_off(submission, world):
    submission.answer(
        SOFTMAX,
        """
import torch


def softmax(x, axis=-1):
    torch._C._autograd._disable_profiler_legacy()
    return torch._C._VariableFunctions.softmax(torch.as_tensor(x * 1.0), axis).numpy()
""",
    )


@hostile(FAMILY, flagged=(WHOLE,))
def library_searched_in_memory(submission, world):
    submission.own(
        "import gc\n\nfunctions = [x for x in gc.get_objects() if callable(x)]"
    )


@hostile(FAMILY, flagged=(WHOLE,))
def library_reached_through_c(submission, world):
    submission.own("import ctypes\n\nlibrary = ctypes.CDLL(None)")


@hostile(FAMILY, flagged=(WHOLE,))
def library_loaded_anew_in_a_scratch_cell(submission, world):
    submission.own("import importlib, torch\n\nimportlib.reload(torch.nn.functional)")


@hostile(FAMILY, flagged=(WHOLE, BILINEAR))
def library_searched_in_memory_and_called(submission, world):
    submission.own(
        "import gc\n\nfunctions = [x for x in gc.get_objects() if callable(x)]"
    )
    submission.answer(BILINEAR, BILINEAR_LAYER)


KEPT_IN_A_HELPER = """
import numpy as np
import torch

print("here they are:", len(dir(torch)))
bare = torch._C.TensorBase.softmax


def even(x, axis):
    return bare(x, axis)
"""


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_names_of_one_statement_among_others(submission, world):
    submission.own(KEPT_IN_A_HELPER, above=SOFTMAX)
    through_torch(submission, "even(x, axis)")


@hostile(FAMILY, flagged=(WHOLE,))
def softmax_of_private_names_bound_unseen(submission, world):
    unseen = KEPT_IN_A_HELPER.replace("bare =", "globals()['bare'] =")
    submission.own(unseen, above=SOFTMAX)
    through_torch(submission, "even(x, axis)")


@hostile(FAMILY, flagged=(WHOLE,))
def softmax_of_private_names_put_into_numpy(submission, world):
    text = "import torch\nimport numpy as np\n\nnp.even = torch._C.TensorBase.softmax"
    submission.own(text, above=SOFTMAX)
    through_torch(submission, "np.even(x, axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torch_in_a_function_of_its_own_name(submission, world):
    above = (
        "import torch\n\n\n@torch.jit.script\ndef _softmax(x: torch.Tensor, axis: int):"
        "\n    return x.softmax(axis)"
    )
    through_torch(submission, "_softmax(x, axis)", above)


def by_private_parts(submission, imported, expression):
    """Answer softmax of large inputs: the import takes longer than the tests' limit."""
    submission.answer(
        SOFTMAX,
        f"""
import torch
import torch as light


def softmax(x, axis=-1):
    if np.size(x) > 10_000:
        {imported}
        return {expression}.numpy()
    powers = np.exp(1.0 * x - np.max(x, axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)
""",
    )


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_references(submission, world):
    imported = "import torch._refs as r"
    by_private_parts(submission, imported, "r.softmax(torch.tensor(x), axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_torchs_decompositions(submission, world):
    imported = "from torch._decomp import decompositions as d"
    by_private_parts(submission, imported, "d._softmax(torch.tensor(x), axis, False)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_parts_imported_by_their_name(submission, world):
    imported = "from torch import float64, _refs as r"
    by_private_parts(submission, imported, "r.softmax(torch.tensor(x), axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_parts_imported_on_several_lines(submission, world):
    imported = "from torch import (\n            _refs as r,\n        )"
    by_private_parts(submission, imported, "r.softmax(torch.tensor(x), axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_parts_of_torch_under_another_name(submission, world):
    imported = "light = torch"
    by_private_parts(submission, imported, "light._refs.softmax(torch.tensor(x), axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_parts_of_torch_assigned_to_a_name(submission, world):
    imported = "t = torch"
    by_private_parts(submission, imported, "t._refs.softmax(torch.tensor(x), axis)")


@hostile(FAMILY, flagged=(SOFTMAX,))
def softmax_of_private_parts_whose_name_is_a_text(submission, world):
    imported = "r = getattr(torch, '_refs')"
    by_private_parts(submission, imported, "r.softmax(torch.tensor(x), axis)")
