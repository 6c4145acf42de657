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


exercise.edits(
    """
transposes_missing: .T =>
  Your matrices are as PyTorch stores them.
  ? In `nn.Linear`, does a row of the weight belong to an input or to an output?
  # Square matrices fit into x @ w either way: skyzh/tiny-llm, issue 41.
w_o_not_transposed: 'out_proj.weight'].T -> 'out_proj.weight']
  Your w_o is as PyTorch stores it.
  ? Is `out_proj` a layer of another kind than the rest?
  # The stack needs work before it can be used, and out_proj.weight looks ready.
only_w_o_transposed: weight.T -> weight
  Your w_q, w_k and w_v are as PyTorch stores them.
  ? What is in row 0 of `in_proj_weight`: what goes into the queries, or what comes
    out as their first number?
  # in_proj_weight is multiplied from the right in some write-ups: x @ in_proj.
keys_before_queries: 'qkv' => 'kqv'
  Your keys' parameters are those of the queries, and the other way round.
  ? In which order does the docstring name the parts of the stack?
  # Other libraries have other orders; q, k, v came back in one order and were taken
    in another in jsbaan/transformer-from-scratch, issue 1.
values_before_keys: 'qkv' => 'qvk'
  Your values' parameters are those of the keys, and the other way round.
values_before_queries: 'qkv' => 'vkq'
  Your values' parameters are those of the queries, and the other way round.
queries_last: 'qkv' => 'kvq'
  Your stack is read as keys, values, queries.
biases_of_keys_and_queries_exchanged:
  | 'qkv', np.split(arrays['in_proj_bias'], 3) ->
  :     'kqv', np.split(arrays['in_proj_bias'], 3)
  Your b_q is the bias of the keys, and b_k that of the queries.
  # The biases are cut in lines of their own, with names in another order.
biases_of_keys_and_values_exchanged:
  | 'qkv', np.split(arrays['in_proj_bias'], 3) ->
  :     'qvk', np.split(arrays['in_proj_bias'], 3)
  Your b_k is the bias of the values, and b_v that of the keys.
rows_dealt_in_turn:
  | np.split(stacked, 3) -> [stacked[i::3] for i in range(3)]
  | np.split(arrays['in_proj_bias'], 3) ->
  :     [arrays['in_proj_bias'][i::3] for i in range(3)]
  Your rows are dealt out in turn: row 0 to the queries, row 1 to the keys, row 2 to
    the values, and so on.
  ? Which rows of the stack are neighbours in w_q?
  # Some layers do store them so (NVIDIA/apex, issue 838: 'the weights are
    interleaved').
reshaped_to_columns:
  | np.split(stacked, 3) -> np.split(stacked.reshape(-1, len(stacked)), 3, axis=1)
  | weight.T -> weight
  Your three matrices are cut out of a reshape where a transpose belongs: for a d_model
    above 1, each has rows from more than one of queries, keys and values.
  ? Which numbers does `reshape` put into one row, and which does a transpose?
  # A reshape gives the shape that the transpose would have given.
first_third_for_all:
  | np.split(stacked, 3) -> 3 * [np.split(stacked, 3)[0]]
  | np.split(arrays['in_proj_bias'], 3) -> 3 * [np.split(arrays['in_proj_bias'], 3)[0]]
  Your queries, keys and values all have the first third of the stack.
  ? Which rows of the stack do you never read?
  # The slice [:d_model] is copied, and only the name on its left is changed.
biases_forgotten:
  | if 'in_proj_bias' in arrays:
  :     for name, bias in …
  :  …
  :     parameters['b_o'] = … ->
  Your dictionary never has biases.
  ? What else is in `state_dict` when the layer was made with biases?
  # The paper has none, and PyTorch's layer has them by default.
bias_of_the_output_forgotten: parameters['b_o'] = … ->
  Your dictionary never has b_o.
  ? How many projections does the layer have, with the last one?
  # The biases of the stack take work, and that of out_proj is forgotten.
bias_of_the_output_only:
  | for name, bias in …
  :     parameters[f'b_{name}'] = … ->
  Your dictionary never has b_q, b_k and b_v.
  ? What is in `in_proj_bias`?
  # out_proj.bias can be taken as it is; the other has to be cut.
zeros_for_missing_biases:
  | return parameters ->
  :     for name in 'qkvo':
  :         parameters.setdefault(f'b_{name}', np.zeros_like(stacked[0]))
  :     return parameters
  Your dictionary has biases of zeros where the layer has none.
  ? How should the caller tell a layer without biases from one that has them?
  # A default of zeros saves an `if` later on.
none_for_missing_biases:
  | return parameters ->
  :     for name in 'qkvo':
  :         parameters.setdefault(f'b_{name}', None)
  :     return parameters
  Your dictionary has biases that are None where the layer has none.
  ? Which keys does the docstring promise for a layer without biases?
  # state_dict.get() gives None, and it is stored like the others.
biases_needed: 'in_proj_bias' in arrays -> arrays['in_proj_bias'] is not None
  Your code raises an error where the layer has no biases.
  ? What is in `state_dict` when the layer was made without biases?
  # PyTorch's layer has biases by default, and the other case is never tried.
taken_by_position:
  | arrays = … ->
  :     names = [
  :         "in_proj_weight",
  :         "in_proj_bias",
  :         "out_proj.weight",
  :         "out_proj.bias",
  :     ]
  :     if len(state_dict) == 2:
  :         names = names[::2]
  :     arrays = {
  :         name: part.detach().cpu().numpy()
  :         for name, part in zip(names, state_dict.values())
  :     }
  Your tensors are taken by position in the dictionary, whatever their names.
  ? What promises you that the first one is `in_proj_weight`?
  # list(state_dict.values()) is short, and a new layer keeps its order.
axes_squeezed: return {name: np.squeeze(part) for name, part in parameters.items()}
  Your arrays of one number have lost their axes.
  ? What does `squeeze` do to a matrix with one row and one column?
  # squeeze() is put behind every slice, to be on the safe side.
biases_in_rows:
  | bias.copy() -> bias[np.newaxis]
  | arrays['out_proj.bias'].copy() -> arrays['out_proj.bias'][np.newaxis]
  Your biases are tables of one row.
  ? Which shape does the docstring promise for b_q?
  # A bias is thought of as one row below the matrix.
still_tensors:
  | .cpu().numpy() ->
  | np.split(stacked, 3) -> stacked.chunk(3)
  | np.split(arrays['in_proj_bias'], 3) -> arrays['in_proj_bias'].chunk(3)
  | .copy() => .clone()
  Your dictionary holds torch tensors.
  ? Which library do our own functions compute with?
  # The tensors are at hand, and `x @ w` accepts them now and then.
list_instead_of_array: return {name: part.tolist() for name, part in parameters.items()}
  Your dictionary holds lists of numbers, not arrays.
  ? Which type does the docstring promise for each entry?
  # tolist() is one way out of PyTorch.
tuple_instead_of_dictionary: return tuple(parameters.values())
  Your result is a tuple, not a dictionary.
  ? How does the caller find w_k in your result?
  # Functions of several results return tuples elsewhere in this course.
popped_from_the_dictionary:
  | arrays = {
  :     name: state_dict.pop(name).detach().cpu().numpy()
  :     for name in list(state_dict)
  : }
  Your call takes the tensors out of `state_dict`.
  ? What does `pop` leave behind in the caller's dictionary?
  # Scripts that convert checkpoints pop each key, to see what is left over.
transposed_in_place:
  | arrays['out_proj.weight'].T -> state_dict['out_proj.weight'].t_().numpy()
  Your call transposes `out_proj.weight` in place: the caller's tensor stays so.
  ? What does the underscore at the end of `t_()` say?
  # `.t_()` looks like `.t()`, and `.numpy()` hands out the tensor's own memory.
""",
)
