import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("load_torch_parameters")


def named(parts):
    """Put w_q, w_k, w_v, w_o and then the biases under their names."""
    names = ["w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"]
    return dict(zip(names, parts, strict=False))


@answers.correct
def chunks_of_pytorch(state_dict):
    parts = [part.T for part in state_dict["in_proj_weight"].chunk(3)]
    parts.append(state_dict["out_proj.weight"].T)
    if "in_proj_bias" in state_dict:
        parts += [*state_dict["in_proj_bias"].chunk(3), state_dict["out_proj.bias"]]
    return named([part.numpy() for part in parts])


@answers.correct
def slices_by_size(state_dict):
    arrays = {name: np.array(part) for name, part in state_dict.items()}
    d = arrays["out_proj.weight"].shape[0]
    loaded = {"w_o": arrays["out_proj.weight"].transpose()}
    for index, name in enumerate("qkv"):
        own = slice(index * d, index * d + d)
        loaded["w_" + name] = arrays["in_proj_weight"][own].transpose()
        if "in_proj_bias" in arrays:
            loaded["b_" + name] = arrays["in_proj_bias"][own]
    if "out_proj.bias" in arrays:
        loaded["b_o"] = arrays["out_proj.bias"]
    return loaded


@answers.correct
def transposed_then_split(state_dict):
    columns = state_dict["in_proj_weight"].numpy().T
    w_q, w_k, w_v = np.hsplit(columns, 3)
    loaded = {"w_q": w_q, "w_k": w_k, "w_v": w_v}
    loaded["w_o"] = state_dict["out_proj.weight"].numpy().T
    biases = state_dict.get("in_proj_bias")
    if biases is not None:
        loaded["b_q"], loaded["b_k"], loaded["b_v"] = biases.numpy().reshape(3, -1)
        loaded["b_o"] = state_dict["out_proj.bias"].numpy()
    return loaded


@answers.correct
def einsum_for_the_transpose(state_dict):
    stacked = state_dict["in_proj_weight"].numpy()
    parts = stacked.reshape(3, -1, stacked.shape[1])
    loaded = [*np.einsum("poi->pio", parts)]
    loaded.append(np.einsum("oi->io", state_dict["out_proj.weight"].numpy()))
    if len(state_dict) > 2:
        loaded += [*state_dict["in_proj_bias"].numpy().reshape(3, -1)]
        loaded.append(state_dict["out_proj.bias"].numpy())
    return named(loaded)


@answers.correct
def what_the_layer_does_to_the_unit_matrix(state_dict):
    same = torch.eye(state_dict["out_proj.weight"].shape[0]).to(
        state_dict["out_proj.weight"].dtype
    )
    linear = torch.nn.functional.linear
    parts = [*linear(same, state_dict["in_proj_weight"]).split(len(same), dim=1)]
    parts.append(linear(same, state_dict["out_proj.weight"]))
    if "in_proj_bias" in state_dict:
        parts += [*state_dict["in_proj_bias"].split(len(same))]
        parts.append(state_dict["out_proj.bias"])
    return named([part.numpy() for part in parts])


@answers.correct
def loops(state_dict):
    last = state_dict["out_proj.weight"]
    d, loaded = len(last), {}
    for index, name in enumerate("qkvo"):
        table = last if name == "o" else state_dict["in_proj_weight"][index * d :]
        loaded[f"w_{name}"] = np.zeros((d, d))
        for i in range(d):
            for j in range(d):
                loaded[f"w_{name}"][i, j] = table[j, i].item()
        if "out_proj.bias" in state_dict:
            bias = state_dict["out_proj.bias"]
            if name != "o":
                bias = state_dict["in_proj_bias"][index * d :]
            loaded[f"b_{name}"] = np.array([bias[i].item() for i in range(d)])
    return loaded


@answers.correct
def columns_first_in_memory(state_dict):
    loaded = chunks_of_pytorch(state_dict)
    return {name: np.asfortranarray(part) for name, part in loaded.items()}


class Loader:
    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, state_dict):
        loaded = slices_by_size(state_dict)
        return {name: part.astype(self.dtype) for name, part in loaded.items()}


answers.right["callable_object_in_float64"] = Loader(np.float64)
answers.right["partial"] = functools.partial(
    lambda load, state_dict: load(state_dict), transposed_then_split
)


@answers.other
def names_of_pytorch(state_dict):
    return {name: part.numpy() for name, part in state_dict.items()}


@answers.other
def residual_taken_in(state_dict):
    loaded = chunks_of_pytorch(state_dict)
    return loaded | {
        "w_o": loaded["w_o"] + np.eye(len(loaded["w_o"]), dtype=np.float32)
    }


@answers.other
def scale_taken_in(state_dict):
    loaded = chunks_of_pytorch(state_dict)
    return loaded | {"w_q": loaded["w_q"] / np.float32(2.0)}


@answers.correct
def float32_throughout(state_dict):
    loaded = chunks_of_pytorch(state_dict)
    return {name: part.astype(np.float32) for name, part in loaded.items()}
