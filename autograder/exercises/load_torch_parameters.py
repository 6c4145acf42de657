"""Cases and misconceptions of ``load_torch_parameters``."""

import numpy as np

from autograder import Exercise
from course_lib.heads import load_torch_parameters

exercise = Exercise(
    load_torch_parameters,
    lesson="03_multi_head_attention",
    minutes=12,
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


@exercise.case("A layer with biases gives four matrices and four vectors", weight=2)
def with_biases(student, rng):
    student.agrees(drawn(rng, 6))


@exercise.case(
    "Your arrays give the same projections as the tensors", weight=0.5, visible=False
)
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


@exercise.case("Matrices of one number stay matrices, and biases vectors", weight=0.5)
def one_number(student, rng):
    student.agrees(drawn(rng, 1))
    state_dict = drawn(rng, 1)
    student.agrees(
        {name: state_dict[name] for name in state_dict if name.endswith("weight")}
    )


@exercise.case("`state_dict` and its tensors are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn(rng, 3))


@exercise.variants
def variants(
    state_dict,
    *,
    taken="by name",
    cut="one after the other",
    order="q, k, v",
    bias_order="",
    turned="q, k, v, o",
    biases="where there are any",
    arrays="arrays",
    left="as it is",
):
    keys = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    if biases == "needed":
        missing = [name for name in keys if name not in state_dict]
        if missing:
            raise KeyError(missing[0])
    own = {name: part.numpy().copy() for name, part in state_dict.items()}
    if taken == "by position":
        some = keys[::2] if len(own) == 2 else keys
        own = dict(zip(some, own.values(), strict=True))
    stacked, w_o = own["in_proj_weight"], own["out_proj.weight"]
    d_model = len(w_o)

    def thirds(stack):
        if cut == "in turn":
            return [stack[start::3] for start in range(3)]
        return [stack[:d_model]] * 3 if cut == "the first" else np.split(stack, 3)

    matrices = [part.T for part in thirds(stacked)]
    if cut == "reshaped":
        matrices = np.split(stacked.reshape(d_model, 3 * d_model), 3, axis=1)
    names = [*order.split(", "), "o"]
    loaded = {
        f"w_{name}": matrix if name in turned else matrix.T
        for name, matrix in zip(names, [*matrices, w_o.T], strict=True)
    }
    vectors = {"zeros": np.zeros(d_model, w_o.dtype), "None": None}
    if "in_proj_bias" in own and biases != "never":
        in_order = bias_order.split(", ") if bias_order else names[:3]
        parts = [*thirds(own["in_proj_bias"]), own["out_proj.bias"]]
        for name, bias in zip([*in_order, "o"], parts, strict=True):
            row = bias[np.newaxis] if arrays == "biases in rows" else bias
            if biases not in ("q, k, v", "o") or name in biases:
                loaded[f"b_{name}"] = row
    elif biases in vectors:
        loaded |= {f"b_{name}": vectors[biases] for name in "qkvo"}
    if left == "popped":
        state_dict.clear()
    elif left == "transposed":
        state_dict["out_proj.weight"].t_()
    if arrays == "squeezed":
        return {name: np.squeeze(part) for name, part in loaded.items()}
    if arrays == "lists":
        return {name: part.tolist() for name, part in loaded.items()}
    if arrays == "a tuple":
        return tuple(loaded.values())
    return tensors(**loaded) if arrays == "tensors" else loaded


for turned, name, diagnosis, question, why in (
    (
        "",
        "transposes_missing",
        "Your matrices are as PyTorch stores them.",
        "In `nn.Linear`, does a row of the weight belong to an input or to an output?",
        "Square matrices fit into x @ w either way: skyzh/tiny-llm, issue 41.",
    ),
    (
        "q, k, v",
        "w_o_not_transposed",
        "Your w_o is as PyTorch stores it.",
        "Is `out_proj` a layer of another kind than the rest?",
        "The stack needs work before it can be used, and out_proj.weight looks ready.",
    ),
    (
        "o",
        "only_w_o_transposed",
        "Your w_q, w_k and w_v are as PyTorch stores them.",
        "What is in row 0 of `in_proj_weight`: what goes into the queries, or what "
        "comes out as their first number?",
        "in_proj_weight is multiplied from the right in some write-ups: x @ in_proj.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, turned=turned)
for order, name, diagnosis in (
    (
        "k, q, v",
        "keys_before_queries",
        "Your keys' parameters are those of the queries, and the other way round.",
    ),
    (
        "q, v, k",
        "values_before_keys",
        "Your values' parameters are those of the keys, and the other way round.",
    ),
    (
        "v, k, q",
        "values_before_queries",
        "Your values' parameters are those of the queries, and the other way round.",
    ),
    ("k, v, q", "queries_last", "Your stack is read as keys, values, queries."),
):
    exercise.option(
        name,
        diagnosis,
        "In which order does the docstring name the parts of the stack?",
        why="Other libraries have other orders; q, k, v came back in one order and "
        "were taken in another in jsbaan/transformer-from-scratch, issue 1.",
        order=order,
    )
for bias_order, name, diagnosis in (
    (
        "k, q, v",
        "biases_of_keys_and_queries_exchanged",
        "Your b_q is the bias of the keys, and b_k that of the queries.",
    ),
    (
        "q, v, k",
        "biases_of_keys_and_values_exchanged",
        "Your b_k is the bias of the values, and b_v that of the keys.",
    ),
):
    exercise.option(
        name,
        diagnosis,
        "In which order does the docstring name the parts of the stack?",
        why="The biases are cut in lines of their own, with names in another order.",
        bias_order=bias_order,
    )
exercise.option(
    "rows_dealt_in_turn",
    "Your rows are dealt out in turn: row 0 to the queries, row 1 to the keys, row 2 "
    "to the values, and so on.",
    "Which rows of the stack are neighbours in w_q?",
    why="Some layers do store them so (NVIDIA/apex, issue 838: 'the weights are "
    "interleaved').",
    cut="in turn",
)
exercise.option(
    "reshaped_to_columns",
    "Your three matrices come from a reshape to (d_model, 3 · d_model): each holds a "
    "third of the numbers, and parts of queries, keys and values.",
    "Which numbers does `reshape` put into one row, and which does a transpose?",
    why="A reshape gives the shape that the transpose would have given.",
    cut="reshaped",
)
exercise.option(
    "first_third_for_all",
    "Your queries, keys and values all have the first third of the stack.",
    "Which rows of the stack do you never read?",
    why="The slice [:d_model] is copied, and only the name on its left is changed.",
    cut="the first",
)
for biases, name, diagnosis, question, why in (
    (
        "never",
        "biases_forgotten",
        "Your dictionary never has biases.",
        "What else is in `state_dict` when the layer was made with biases?",
        "The paper has none, and PyTorch's layer has them by default.",
    ),
    (
        "q, k, v",
        "bias_of_the_output_forgotten",
        "Your dictionary never has b_o.",
        "How many projections does the layer have, with the last one?",
        "The biases of the stack take work, and that of out_proj is forgotten.",
    ),
    (
        "o",
        "bias_of_the_output_only",
        "Your dictionary never has b_q, b_k and b_v.",
        "What is in `in_proj_bias`?",
        "out_proj.bias can be taken as it is; the other has to be cut.",
    ),
    (
        "zeros",
        "zeros_for_missing_biases",
        "Your dictionary has biases of zeros where the layer has none.",
        "How should the caller tell a layer without biases from one that has them?",
        "A default of zeros saves an `if` later on.",
    ),
    (
        "None",
        "none_for_missing_biases",
        "Your dictionary has biases that are None where the layer has none.",
        "Which keys does the docstring promise for a layer without biases?",
        "state_dict.get() gives None, and it is stored like the others.",
    ),
    (
        "needed",
        "biases_needed",
        "Your code raises an error where the layer has no biases.",
        "What is in `state_dict` when the layer was made without biases?",
        "PyTorch's layer has biases by default, and the other case is never tried.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, biases=biases)
exercise.option(
    "taken_by_position",
    "Your tensors are taken by position in the dictionary, whatever their names.",
    "What promises you that the first one is `in_proj_weight`?",
    why="list(state_dict.values()) is short, and a new layer keeps its order.",
    taken="by position",
)
for arrays, name, diagnosis, question, why in (
    (
        "squeezed",
        "axes_squeezed",
        "Your arrays of one number have lost their axes.",
        "What does `squeeze` do to a matrix with one row and one column?",
        "squeeze() is put behind every slice, to be on the safe side.",
    ),
    (
        "biases in rows",
        "biases_in_rows",
        "Your biases are tables of one row.",
        "Which shape does the docstring promise for b_q?",
        "A bias is thought of as one row below the matrix.",
    ),
    (
        "tensors",
        "still_tensors",
        "Your dictionary holds torch tensors.",
        "Which library do our own functions compute with?",
        "The tensors are at hand, and `x @ w` accepts them now and then.",
    ),
    (
        "lists",
        "list_instead_of_array",
        "Your dictionary holds lists of numbers, not arrays.",
        "Which type does the docstring promise for each entry?",
        "tolist() is one way out of PyTorch.",
    ),
    (
        "a tuple",
        "tuple_instead_of_dictionary",
        "Your result is a tuple, not a dictionary.",
        "How does the caller find w_k in your result?",
        "Functions of several results return tuples elsewhere in this course.",
    ),
):
    exercise.option(name, diagnosis, question, why=why, arrays=arrays)
exercise.option(
    "popped_from_the_dictionary",
    "Your call takes the tensors out of `state_dict`.",
    "What does `pop` leave behind in the caller's dictionary?",
    why="Scripts that convert checkpoints pop each key, to see what is left over.",
    left="popped",
)
exercise.option(
    "transposed_in_place",
    "Your call transposes `out_proj.weight` in place: the caller's tensor stays so.",
    "What does the underscore at the end of `t_()` say?",
    why="`.t_()` looks like `.t()`, and `.numpy()` hands out the tensor's own memory.",
    left="transposed",
)
