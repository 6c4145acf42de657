"""Cases and misconceptions of ``shift_right``."""

import numpy as np
import torch

from autograder import Exercise, families
from course_lib.nn.functional import shift_right

exercise = Exercise(
    shift_right,
    lesson="09_transformer",
    minutes=5,
    difficulty=1,
)


@exercise.spec
def spec(targets, start_id):
    numbers = targets.numpy()
    result = np.zeros_like(numbers)
    for *batch, i in np.ndindex(*numbers.shape):
        result[*batch, i] = numbers[*batch, i - 1] if i > 0 else start_id
    return torch.from_numpy(result)


def tensor(numbers, dtype=np.int64):
    """Make a tensor of integers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


@exercise.usual
def usual(rng):
    return tensor(rng.integers(3, 20, size=(2, 5))), 1


@exercise.case("The targets 5, 6, 7, 8 and the start 1 give 1, 5, 6, 7", weight=0.5)
def small_example_by_hand(student, rng):
    student.expect(student(tensor([[5, 6, 7, 8]]), 1), tensor([[1, 5, 6, 7]]))


@exercise.case("Each sequence is shifted by itself, in any batch", weight=2.5)
def leading_axes(student, rng):
    for shape in ((3, 5), (2, 3, 4), (5,)):
        student.agrees(tensor(rng.integers(3, 20, size=shape)), 2)


@exercise.case("A single token leaves only the start", weight=0.5)
def one_token(student, rng):
    student.expect(student(tensor([[7], [4]]), 1), tensor([[1], [1]]))


@exercise.case("Targets that end in padding are shifted like any others", weight=0.5)
def padding_at_the_end(student, rng):
    targets = tensor([[5, 6, 2, 0, 0], [8, 2, 0, 0, 0], [9, 9, 7, 7, 2]])
    expected = tensor([[3, 5, 6, 2, 0], [3, 8, 2, 0, 0], [3, 9, 9, 7, 7]])
    student.expect(student(targets, 3), expected)


@exercise.case(
    "Targets that begin with the start are shifted like any others", weight=0.5
)
def start_there_already(student, rng):
    result = student(tensor([[1, 5, 6, 2], [5, 1, 1, 2]]), 1)
    student.expect(result, tensor([[1, 1, 5, 6], [1, 5, 1, 1]]))
    student.expect(
        student(tensor([[1, 7, 2], [1, 8, 9]]), 1), tensor([[1, 1, 7], [1, 1, 8]])
    )


@exercise.case("A start of 0 makes no difference", weight=1.5)
def start_zero(student, rng):
    student.agrees(tensor(rng.integers(1, 20, size=(3, 4))), 0)


@exercise.case(
    "At each position stands the target of the position before",
    weight=1.5,
    visible=False,
)
def target_before(student, rng):
    targets = tensor(rng.integers(3, 20, size=(6, 7)))
    result = student(targets, 1)
    student.expect(result[:, 1:], targets[:, :-1], what="the result without its starts")


@exercise.case("The targets are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(tensor(rng.integers(3, 20, size=(2, 4))), 1)


exercise.edits(
    """
not_shifted: return targets.clone()
  Your targets stand at their own positions.
  ? What could a decoder that reads this learn to write at position i, if it sees
    token i while it writes it?
  # The shift is left to 'somebody else': to the loss, or to the data.
shifted_twice:
  | return torch.cat([first, first, targets[..., :-2]], dim=-1)[..., :targets.shape[-1]]
  Your targets are shifted by two positions.
  ? How many tokens has the decoder read before it writes the second one?
  # The data are shifted already, then the model shifts once more:
    huggingface/transformers, issue 23000.
shifted_left: return torch.cat([targets[..., 1:], first], dim=-1)
  Your targets are shifted to the left: token i + 1 stands where token i was.
  ? At the position where token i is written, which tokens may have been read?
  # labels[1:] and inputs[:-1] are two sides of one shift, and get mixed up.
last_token_kept: targets[..., :-1] -> targets
  Your result has one token too many: the last target is still there.
  ? How long are the targets, and how many positions does the decoder write?
  # 'Put the start first' is half of the shift.
start_left_out: return targets[..., :-1]
  Your result is one token short: it begins with the first target.
  ? What does the decoder read when it predicts the first target?
  # targets[..., :-1] is what it reads where data bring their own start.
first_token_left_out: return targets[..., 1:]
  Your result is one token short: it begins with the second target.
  ? Which side of the shift does the decoder read, and which must it predict?
  # targets[..., 1:] is the other half of the pair of inputs and labels.
first_token_replaced: targets[..., :-1] -> targets[..., 1:]
  Your start has taken the position of the first target; the others stand where they
    stood.
  ? Where does the second target stand in your result, and may the decoder read it
    there?
  # targets[:, 0] = start_id is the first half of a shift in two steps.
start_at_the_end: [first, targets[..., :-1]] -> [targets[..., :-1], first]
  Your last target is replaced; the others stand where they stood.
  ? Which token does the decoder read first?
  # Start and end symbols are often one and the same, and get mixed up.
first_token_smeared:
  | return torch. … ->
  :     shifted = targets.clone()
  :     for i in range(1, targets.shape[-1]):
  :         shifted[..., i] = shifted[..., i - 1]
  :     shifted[..., 0] = start_id
  :     return shifted
  All your tokens after the start are copies of the first target.
  ? In your loop, has the token that you copy been overwritten already?
  # Copying to the right from left to right overwrites what is needed next.
rolled_round: return targets.roll(1, dims=-1)
  Your last target takes the position of the start: what drops out at the end comes
    back.
  ? Which token does `roll` put at the first position, and may the decoder know it?
  # BART wraps the end symbol round on purpose: huggingface/transformers, issue 7961.
one_start_for_the_batch:
  | return torch. … ->
  :     shifted = targets.roll(1, dims=-1)
  :     shifted.view(-1)[0] = start_id
  :     return shifted
  Your first sequence alone gets the start; others get their last target there.
  ? How many starts are needed for a batch of three sequences?
  # result[0, 0] = start_id sets one number of a whole column.
first_token_for_the_start: first = targets[..., :1]
  Your first target takes the position of the start.
  ? Where is the argument `start_id` used in your code?
  # Each position is clamped to the first, so that no index is negative.
zero_for_the_start: start_id) -> 0)
  Your start is 0, whatever `start_id` is.
  # T5 begins with its padding, which has number 0, and torch.zeros_like is short.
one_for_the_start: start_id) -> 1)
  Your start is 1, whatever `start_id` is.
  # The docstring's example and the lesson's data begin with token id 1.
shifted_across_sequences:
  | first = torch.tensor([start_id])
  | return torch.cat([first, targets.flatten()[:-1]]).reshape(targets.shape)
  Your sequences run into each other, as if the batch were a single sequence.
  ? How many starts are needed for a batch of three sequences?
  # torch.roll without dims, and views of flat data, know no rows.
shifted_along_the_batch:
  | targets[..., :1] -> targets[:1]
  | [first, targets[..., :-1]], dim=-1 -> [first, targets[:-1]], dim=0
  Your tokens move along the first axis, from one sequence of a batch to another.
  ? Along which axis do the tokens of one text lie?
  # dim=0 is the tokens' axis where batches come second, as in older PyTorch.
shifted_along_axis_one:
  | targets[..., :1] -> targets[:, :1]
  | [first, targets[..., :-1]], dim=-1 -> [first, targets[:, :-1]], dim=1
  Your tokens move along axis 1, which holds the positions only with one leading axis.
  ? From which end is the axis of the positions counted in the docstring?
  # targets[:, 1:] and dim=1 are right for a table of sequences.
two_axes_only: batch_size, n = targets.shape
  Your answer raises an error unless the targets have two axes.
  ? What does the … in the shape (…, n) stand for?
  # `batch, n = targets.shape` is right for a table of sequences.
only_if_the_start_is_missing:
  | return torch.where(
  :     targets[..., :1] == start_id,
  :     targets,
  :     torch.cat([first, targets[..., :-1]], dim=-1),
  : )
  Your sequences that begin with the start are not changed.
  ? Which token does the decoder see while it learns to write such a first token?
  # Data that bring their own start make people test for it: huggingface/transformers,
    issue 18249.
unless_all_begin_with_the_start:
  | return torch. … ->
  :     if (targets[..., 0] == start_id).all():
  :         return targets
  :     return torch.cat([first, targets[..., :-1]], dim=-1)
  Your sequences are not changed if all begin with the start.
  # Data that bring their own start make people test for it.
unless_the_first_begins_with_the_start:
  | return torch. … ->
  :     if targets.flatten()[0] == start_id:
  :         return targets
  :     return torch.cat([first, targets[..., :-1]], dim=-1)
  Your sequences are not changed if the first one begins with the start.
  # `targets[0, 0]` is one number, and the batch is taken to be like it.
zeros_stay:
  | return torch.where(targets == 0, 0, torch.cat([first, targets[..., :-1]], dim=-1))
  Your result has a 0 wherever the targets have one: what came before is lost there.
  ? Does the docstring treat any token id unlike the others?
  # Padding is 0 in the lesson's data, and seems to have no part in the shift.
floating_point: return torch.cat([first, targets[..., :-1]], dim=-1).float()
  Your tokens are floating-point numbers.
  ? Can a table be indexed with 5.0?
  # torch.zeros and torch.ones make float32 unless told otherwise.
shifted_in_place:
  | return torch. … ->
  :     targets[..., 1:] = targets[..., :-1].clone()
  :     targets[..., 0] = start_id
  :     return targets
  Your call overwrites the targets with its result.
  ? What will the loss compare the decoder's answers with?
  # The shift is written into the tensor that came in.
""",
)

exercise.family(families.squeezed(), families.as_numpy(), families.as_list("a tensor"))
