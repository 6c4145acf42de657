"""Cases and misconceptions of ``shift_right``."""

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.functional import shift_right

exercise = Exercise(
    shift_right,
    lesson="08_transformer",
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
    """Make a tensor of whole numbers."""
    return torch.from_numpy(np.array(numbers, dtype=dtype))


@exercise.usual
def usual(rng):
    return tensor(rng.integers(3, 20, size=(2, 5))), 1


@exercise.case("The targets 5, 6, 7, 8 and the start 1 give 1, 5, 6, 7")
def small_example_by_hand(student, rng):
    student.expect(student(tensor([[5, 6, 7, 8]]), 1), tensor([[1, 5, 6, 7]]))


@exercise.case("Each sequence is shifted by itself, in any batch")
def leading_axes(student, rng):
    for shape in ((5,), (3, 5), (2, 3, 4)):
        student.agrees(tensor(rng.integers(3, 20, size=shape)), 2)


@exercise.case("A single token leaves only the start")
def one_token(student, rng):
    student.expect(student(tensor([[7], [4]]), 1), tensor([[1], [1]]))


@exercise.case("Targets that end in padding are shifted like any others")
def padding_at_the_end(student, rng):
    targets = tensor([[5, 6, 2, 0, 0], [8, 2, 0, 0, 0], [9, 9, 7, 7, 2]])
    expected = tensor([[3, 5, 6, 2, 0], [3, 8, 2, 0, 0], [3, 9, 9, 7, 7]])
    student.expect(student(targets, 3), expected)


@exercise.case("Targets that begin with the start are shifted like any others")
def start_there_already(student, rng):
    result = student(tensor([[1, 5, 6, 2], [5, 1, 1, 2]]), 1)
    student.expect(result, tensor([[1, 1, 5, 6], [1, 5, 1, 1]]))


@exercise.case(
    "A start of 0, and targets in whatever order of memory, make no difference"
)
def start_zero(student, rng):
    student.agrees(tensor(rng.integers(1, 20, size=(4, 3))).T, 0)


@exercise.case(
    "At each position stands the target of the position before", visible=False
)
def target_before(student, rng):
    targets = tensor(rng.integers(3, 20, size=(6, 7)))
    result = student(targets, 1)
    student.expect(result[:, 1:], targets[:, :-1], what="the result without its starts")


@exercise.case("The targets stay as they are")
def arguments_stay(student, rng):
    student.leaves_unchanged(tensor(rng.integers(3, 20, size=(2, 4))), 1)


def joined(*pieces):
    """Put tensors side by side along the tokens."""
    return torch.cat(pieces, dim=-1)


def starts(targets, start_id):
    """Return one start for each sequence."""
    return torch.full_like(targets[..., :1], start_id)


@exercise.misconception(
    "Your result is the targets, not shifted at all.",
    "What could a decoder that reads this learn to write at position i, if it sees "
    "token i while it writes it?",
    why="The shift is left to 'somebody else': to the loss, or to the data.",
)
def not_shifted(targets, start_id):
    return targets.clone()


@exercise.misconception(
    "Your result is shifted by two positions: it begins with two starts.",
    "How many tokens has the decoder read before it writes the second one?",
    why="The data are shifted already, then the model shifts once more: "
    "huggingface/transformers, issue 23000.",
)
def shifted_twice(targets, start_id):
    once = joined(starts(targets, start_id), targets[..., :-1])
    return joined(starts(targets, start_id), once[..., :-1])


@exercise.misconception(
    "Your result is shifted to the left: token i + 1 stands where token i was.",
    "At the position where token i is written, which tokens may have been read?",
    why="labels[1:] and inputs[:-1] are two sides of one shift, and get mixed up.",
)
def shifted_left(targets, start_id):
    return joined(targets[..., 1:], starts(targets, start_id))


@exercise.misconception(
    "Your result has one token too many: the start is put in front and nothing goes.",
    "How long are the targets, and how many positions does the decoder write?",
    why="'Put the start in front' is half of the shift.",
)
def last_token_kept(targets, start_id):
    return joined(starts(targets, start_id), targets)


@exercise.misconception(
    "Your start has taken the position of the first target, and nothing has moved.",
    "Where does the first target stand in your result, and may the decoder read it "
    "there?",
    why="targets[:, 0] = start_id is the first half of a shift in two steps.",
)
def first_token_replaced(targets, start_id):
    return joined(starts(targets, start_id), targets[..., 1:])


@exercise.misconception(
    "Your start stands at the end, where the last target should be.",
    "Which token does the decoder read first?",
    why="Start and end symbols are often one and the same, and get mixed up.",
)
def start_at_the_end(targets, start_id):
    return joined(targets[..., :-1], starts(targets, start_id))


@exercise.misconception(
    "Your result begins with the last target: what drops out at the end comes back "
    "in front.",
    "Which token does `roll` put at the first position, and may the decoder know it?",
    why="BART wraps the end symbol round on purpose: huggingface/transformers, "
    "issue 7961.",
)
def rolled_round(targets, start_id):
    return torch.roll(targets, 1, dims=-1)


@exercise.misconception(
    "Your result begins with 0, whatever the start is.",
    "Where is the argument `start_id` used in your code?",
    why="T5 begins with its padding, which has number 0, and torch.zeros_like is "
    "short.",
)
def zero_for_the_start(targets, start_id):
    return joined(torch.zeros_like(targets[..., :1]), targets[..., :-1])


@exercise.misconception(
    "Your sequences run into each other: each begins with the last token of the one "
    "before.",
    "How many starts are needed for a batch of three sequences?",
    why="torch.roll without dims, and views of flat data, know no rows.",
)
def shifted_across_sequences(targets, start_id):
    flat = targets.reshape(-1)
    return joined(starts(flat, start_id), flat[:-1]).reshape(targets.shape)


@exercise.misconception(
    "Your sequences have moved down by one in the batch, not their tokens.",
    "Along which axis do the tokens of one text lie?",
    why="dim=0 is the tokens' axis where batches come second, as in older PyTorch.",
)
def shifted_along_the_batch(targets, start_id):
    return torch.cat([torch.full_like(targets[:1], start_id), targets[:-1]])


@exercise.misconception(
    "All your tokens after the start are copies of the first target.",
    "In your loop, has the token that you copy been overwritten already?",
    why="Copying to the right from left to right overwrites what is needed next.",
)
def first_token_smeared(targets, start_id):
    first = targets[..., :1].expand_as(targets)
    return joined(starts(targets, start_id), first[..., 1:])


@exercise.misconception(
    "Your sequences that begin with the start are not shifted.",
    "Which token does the decoder see while it learns to write such a first token?",
    why="Data that bring their own start make people test for it: "
    "huggingface/transformers, issue 18249.",
)
def only_if_the_start_is_missing(targets, start_id):
    shifted = joined(starts(targets, start_id), targets[..., :-1])
    return torch.where(targets[..., :1] == start_id, targets, shifted)


@exercise.misconception(
    "Your tokens are right, but floating-point numbers.",
    "Can a table be indexed with 5.0?",
    why="torch.zeros and torch.ones make float32 unless told otherwise.",
)
def floating_point(targets, start_id):
    result = torch.ones(targets.shape) * start_id
    result[..., 1:] = targets[..., :-1]
    return result


@exercise.misconception(
    "Your result is right, but the targets themselves are shifted.",
    "What will the loss compare the decoder's answers with?",
    why="The shift is written into the tensor that came in.",
)
def shifted_in_place(targets, start_id):
    targets[..., 1:] = targets[..., :-1].clone()
    targets[..., 0] = start_id
    return targets
