"""Cases and misconceptions of ``load_torch_parameters``."""

import numpy as np

from autograder import Exercise
from course_lib.heads import load_torch_parameters

exercise = Exercise(
    load_torch_parameters,
    lesson="03_multi_head_attention",
    minutes=15,
    difficulty=2,
)


@exercise.spec
def spec(state_dict):
    stacked = state_dict["in_proj_weight"].tolist()
    last = state_dict["out_proj.weight"].tolist()
    dtype = state_dict["in_proj_weight"].numpy().dtype
    d_model, loaded = len(last), {}
    tables = {"w_q": stacked[:d_model], "w_k": stacked[d_model : 2 * d_model]}
    tables |= {"w_v": stacked[2 * d_model :], "w_o": last}
    for name, rows in tables.items():
        loaded[name] = np.zeros((d_model, d_model), dtype=dtype)
        for i in range(d_model):
            for j in range(d_model):
                loaded[name][i, j] = rows[j][i]  # a row there is a column here
    if "in_proj_bias" in state_dict:
        numbers = state_dict["in_proj_bias"].tolist()
        for index, name in enumerate(("b_q", "b_k", "b_v")):
            own = numbers[index * d_model : (index + 1) * d_model]
            loaded[name] = np.array(own, dtype=dtype)
        loaded["b_o"] = np.array(state_dict["out_proj.bias"].tolist(), dtype=dtype)
    return loaded


def tensors(**arrays):
    """Return a state dictionary; a double underscore stands for the point in a key."""
    import torch  # only here: the other exercises must not wait for it

    return {
        name.replace("__", "."): torch.from_numpy(np.array(array))
        for name, array in arrays.items()
    }


def drawn(rng, d_model, dtype=np.float32):
    """Draw the state dictionary of a layer with biases."""

    def numbers(*shape):
        return rng.normal(size=shape).astype(dtype)

    return tensors(
        in_proj_weight=numbers(3 * d_model, d_model),
        in_proj_bias=numbers(3 * d_model),
        out_proj__weight=numbers(d_model, d_model),
        out_proj__bias=numbers(d_model),
    )


@exercise.usual
def usual(rng):
    return (drawn(rng, 6),)


@exercise.case(
    "The stacked rows (1, 2), (3, 4), …, (11, 12) give these w_q, w_k and w_v"
)
def small_example_by_hand(student, rng):
    stacked = [
        [1.0, 2.0],
        [3.0, 4.0],
        [5.0, 6.0],
        [7.0, 8.0],
        [9.0, 10.0],
        [11.0, 12.0],
    ]
    state_dict = tensors(
        in_proj_weight=stacked, out_proj__weight=[[0.0, 1.0], [-1.0, 0.5]]
    )
    expected = {
        "w_q": np.array([[1.0, 3.0], [2.0, 4.0]]),
        "w_k": np.array([[5.0, 7.0], [6.0, 8.0]]),
        "w_v": np.array([[9.0, 11.0], [10.0, 12.0]]),
        "w_o": np.array([[0.0, -1.0], [1.0, 0.5]]),
    }
    student.expect(student(state_dict), expected)
    others = drawn(rng, 2)
    student.agrees({name: others[name] for name in state_dict})


@exercise.case("A layer with biases gives four matrices and four vectors")
def with_biases(student, rng):
    student.agrees(drawn(rng, 6))


@exercise.case("Your arrays give the same projections as the tensors", visible=False)
def same_projections(student, rng):
    state_dict, x = drawn(rng, 4, np.float64), rng.normal(size=(5, 4))
    there = (
        x @ state_dict["in_proj_weight"].numpy().T + state_dict["in_proj_bias"].numpy()
    )
    loaded = student(state_dict)
    here = [x @ loaded[f"w_{name}"] + loaded[f"b_{name}"] for name in "qkv"]
    student.expect(np.hstack(here), there, what="[x @ w_q + b_q, …] side by side")


@exercise.case("The tensors are found by their names, in whatever order they come")
def any_order_of_names(student, rng):
    state_dict = drawn(rng, 4)
    student.agrees({name: state_dict[name] for name in sorted(state_dict)})


@exercise.case("Matrices of one number stay matrices, and biases vectors")
def one_number(student, rng):
    student.agrees(drawn(rng, 1))
    state_dict = drawn(rng, 1)
    student.agrees(
        {name: state_dict[name] for name in state_dict if name.endswith("weight")}
    )


@exercise.case("`state_dict` and its tensors stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 3))


def arrays_of(state_dict):
    """Return the tensors as arrays of their own, by their names."""
    return {name: part.numpy().copy() for name, part in state_dict.items()}


def by_name(matrices, w_o, biases=None, b_o=None):
    """Put q's, k's and v's matrices and biases under their names."""
    loaded = {
        **{f"w_{name}": table for name, table in zip("qkv", matrices, strict=True)},
        "w_o": w_o,
    }
    if biases is not None:
        loaded |= {f"b_{name}": b for name, b in zip("qkv", biases, strict=True)}
        loaded["b_o"] = b_o
    return loaded


def load_rightly(state_dict):
    """Load as the exercise asks; for errors that lie before or after."""
    arrays = arrays_of(state_dict)
    matrices = [part.T for part in np.split(arrays["in_proj_weight"], 3)]
    w_o = arrays["out_proj.weight"].T
    if "in_proj_bias" not in arrays:
        return by_name(matrices, w_o)
    biases = np.split(arrays["in_proj_bias"], 3)
    return by_name(matrices, w_o, biases, arrays["out_proj.bias"])


def exchanged(loaded, one, other):
    """Exchange two letters in the names of matrices and biases."""
    letters = {one: other, other: one}
    return {
        name[:-1] + letters.get(name[-1], name[-1]): part
        for name, part in loaded.items()
    }


@exercise.misconception(
    "Your matrices are cut out rightly, but they are as PyTorch stores them.",
    "In `nn.Linear`, does a row of the weight belong to an input or to an output?",
    why="Square matrices fit into x @ w either way: skyzh/tiny-llm, issue 41.",
)
def transposes_missing(state_dict):
    loaded = load_rightly(state_dict)
    return {name: part.T for name, part in loaded.items()}


@exercise.misconception(
    "Your w_o is as PyTorch stores it; the other three are transposed rightly.",
    "Is `out_proj` a layer of another kind than the rest?",
    why="The stack needs work before it can be used, and out_proj.weight looks ready.",
)
def w_o_not_transposed(state_dict):
    loaded = load_rightly(state_dict)
    return {**loaded, "w_o": loaded["w_o"].T}


@exercise.misconception(
    "Your w_q, w_k and w_v are as PyTorch stores them; w_o is transposed rightly.",
    "What is in row 0 of `in_proj_weight`: what goes into the queries, or what comes "
    "out as their first number?",
    why="in_proj_weight is multiplied from the right in some write-ups: x @ in_proj.",
)
def only_w_o_transposed(state_dict):
    loaded = load_rightly(state_dict)
    return {**loaded, **{f"w_{name}": loaded[f"w_{name}"].T for name in "qkv"}}


@exercise.misconception(
    "Your keys' parameters are those of the queries, and the other way round.",
    "In which order does the docstring name the parts of the stack?",
    why="Key, query, value is the order in several other libraries and in 'kqv'.",
)
def keys_before_queries(state_dict):
    return exchanged(load_rightly(state_dict), "q", "k")


@exercise.misconception(
    "Your values' parameters are those of the keys, and the other way round.",
    "In which order does the docstring name the parts of the stack?",
    why="q, v, k: returned in one order and taken in another in "
    "jsbaan/transformer-from-scratch, issue 1.",
)
def values_before_keys(state_dict):
    return exchanged(load_rightly(state_dict), "v", "k")


@exercise.misconception(
    "Your rows are dealt out in turn: row 0 to the queries, row 1 to the keys, row 2 "
    "to the values, and so on.",
    "Which rows of the stack are neighbours in w_q?",
    why="Some layers do store them so (NVIDIA/apex, issue 838: 'the weights are "
    "interleaved').",
)
def rows_dealt_in_turn(state_dict):
    arrays = arrays_of(state_dict)
    changed = {**state_dict}
    for name in ("in_proj_weight", "in_proj_bias"):
        if name in arrays:
            parts = [arrays[name][start::3] for start in range(3)]
            changed |= tensors(**{name: np.concatenate(parts)})
    return load_rightly(changed)


@exercise.misconception(
    "Your three matrices come from a reshape to (d_model, 3 · d_model): each holds a "
    "third of the numbers, and parts of queries, keys and values.",
    "Which numbers does `reshape` put into one row, and which does a transpose?",
    why="A reshape gives the shape that the transpose would have given.",
)
def reshaped_to_columns(state_dict):
    arrays = arrays_of(state_dict)
    stacked = arrays["in_proj_weight"]
    columns = stacked.reshape(stacked.shape[1], stacked.shape[0])
    right = load_rightly(state_dict)
    thirds = dict(zip(("w_q", "w_k", "w_v"), np.split(columns, 3, axis=1), strict=True))
    return {**right, **thirds}


@exercise.misconception(
    "Your dictionary never has biases.",
    "What else is in `state_dict` when the layer was made with biases?",
    why="The paper has none, and PyTorch's layer has them by default.",
)
def biases_forgotten(state_dict):
    loaded = load_rightly(state_dict)
    return {name: part for name, part in loaded.items() if name[0] == "w"}


@exercise.misconception(
    "You add biases of zeros where the layer has none.",
    "How should the caller tell a layer without biases from one that has them?",
    why="A default of zeros saves an `if` later on.",
)
def zeros_for_missing_biases(state_dict):
    loaded = load_rightly(state_dict)
    zeros = np.zeros(len(loaded["w_o"]), dtype=loaded["w_o"].dtype)
    return {**{f"b_{name}": zeros for name in "qkvo"}, **loaded}


@exercise.misconception(
    "Your tensors are taken by position in the dictionary, whatever their names.",
    "What promises you that the first one is `in_proj_weight`?",
    why="list(state_dict.values()) is short, and a new layer keeps its order.",
)
def taken_by_position(state_dict):
    names = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    if len(state_dict) == 2:
        names = names[::2]
    return load_rightly(dict(zip(names, state_dict.values(), strict=True)))


@exercise.misconception(
    "Your arrays of one number have lost their axes.",
    "What does `squeeze` do to a matrix with one row and one column?",
    why="squeeze() is put behind every slice, to be on the safe side.",
)
def axes_squeezed(state_dict):
    return {name: np.squeeze(part) for name, part in load_rightly(state_dict).items()}


@exercise.misconception(
    "Your arrays are right, but the tensors are gone from `state_dict` afterwards.",
    "What does `pop` leave behind in the caller's dictionary?",
    why="Scripts that convert checkpoints pop each key, to see what is left over.",
)
def popped_from_the_dictionary(state_dict):
    return load_rightly({name: state_dict.pop(name) for name in list(state_dict)})


@exercise.misconception(
    "Your arrays are right, but `out_proj.weight` is transposed in place and stays so.",
    "What does the underscore at the end of `t_()` say?",
    why="`.t_()` looks like `.t()`, and `.numpy()` hands out the tensor's own memory.",
)
def transposed_in_place(state_dict):
    loaded = load_rightly(state_dict)
    state_dict["out_proj.weight"].t_()
    return loaded


@exercise.misconception(
    "Your dictionary holds torch tensors.",
    "Which library do our own functions compute with?",
    why="The tensors are at hand, and `x @ w` accepts them now and then.",
)
def still_tensors(state_dict):
    loaded = load_rightly(state_dict)
    return tensors(**loaded)
