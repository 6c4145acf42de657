"""Cases and misconceptions of ``language_model_batch``."""

import torch

from autograder import Exercise, families
from course_lib.nn.language_data import language_model_batch

exercise = Exercise(
    language_model_batch,
    lesson="12_language_model",
    minutes=6,
    difficulty=1,
    returns=("inputs", "targets"),
)


@exercise.spec
def spec(token_ids, length, starts):
    tokens, inputs, targets = token_ids.tolist(), [], []
    for start in starts.tolist():
        if start < 0 or start + length + 1 > len(tokens):
            raise ValueError("a window has no target for each of its tokens")
        inputs.append([tokens[start + i] for i in range(length)])
        targets.append([tokens[start + i + 1] for i in range(length)])
    return torch.tensor(inputs), torch.tensor(targets)


def drawn_text(rng, n_tokens):
    """Draw a text in which tokens may come again."""
    return torch.from_numpy(rng.integers(0, 50, size=n_tokens))


def drawn_starts(rng, batch, last):
    return torch.from_numpy(rng.integers(0, last + 1, size=batch))


@exercise.usual
def usual(rng):
    return drawn_text(rng, 40), 5, drawn_starts(rng, 3, 34)


@exercise.case(
    "Of the text 10 … 15, windows of 3 tokens from 0 and 2 on have the targets 11 12 "
    "13 and 13 14 15"
)
def small_example_by_hand(student, rng):
    token_ids = torch.tensor([10, 11, 12, 13, 14, 15])
    inputs, targets = student(token_ids, 3, torch.tensor([0, 2]))
    student.expect(inputs, torch.tensor([[10, 11, 12], [12, 13, 14]]), "inputs")
    student.expect(targets, torch.tensor([[11, 12, 13], [13, 14, 15]]), "targets")
    student.agrees(drawn_text(rng, 19), 3, drawn_starts(rng, 2, 15))


@exercise.case("A batch has one window for each start")
def batch_of_windows(student, rng):
    student.agrees(drawn_text(rng, 40), 5, drawn_starts(rng, 3, 34))
    student.agrees(drawn_text(rng, 30), 4, drawn_starts(rng, 7, 25))


@exercise.case(
    "Within a window, each target is the input that follows", pays_alone=False
)
def targets_are_the_next_inputs(student, rng):
    inputs, targets = student(drawn_text(rng, 60), 8, drawn_starts(rng, 4, 51))
    student.expect(targets[:, :-1], inputs[:, 1:], "targets without the last of each")


@exercise.case("Windows may overlap, come twice, and come in any order")
def windows_in_any_order(student, rng):
    student.agrees(drawn_text(rng, 25), 6, torch.tensor([17, 3, 3, 5, 0]))
    order = torch.from_numpy(rng.permutation(18))
    student.agrees(drawn_text(rng, 25), 6, order)


@exercise.case("A text of n tokens has a window that starts at n − length − 1")
def last_window(student, rng):
    student.agrees(drawn_text(rng, 12), 4, torch.tensor([7]))
    others = drawn_starts(rng, 2, 12)
    student.agrees(drawn_text(rng, 20), 6, torch.cat([others, torch.tensor([13])]))


@exercise.case("A window may have one token, or all but the last of the text")
def shortest_and_longest_window(student, rng):
    student.agrees(drawn_text(rng, 9), 1, drawn_starts(rng, 4, 7))
    student.agrees(drawn_text(rng, 11), 10, torch.tensor([0]))


@exercise.case("`token_ids` and `starts` are not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn_text(rng, 20), 4, drawn_starts(rng, 3, 15))


@exercise.case("A long text, with a large batch", visible=False)
def long_text(student, rng):
    student.agrees(drawn_text(rng, 2000), 33, drawn_starts(rng, 19, 1966))


exercise.edits(
    """
targets_not_shifted: positions + 1 -> positions
  Your targets are the inputs themselves: a model that copies would have no loss.
  ? What should a model predict that has read the first token of a window?
  # The shift is left to the model: Hugging Face's models shift labels inside.
targets_shifted_twice: positions + 1 -> positions + 2
  Your targets are two tokens later than your inputs.
  ? Which token comes after the first input, and which one is your first target?
  # One shift in the slice and a second one in the index of the window.
targets_from_before: positions + 1 -> positions - 1
  Your targets are one token earlier than your inputs.
  ? Does a language model predict what comes next, or what came before?
  # The shift goes to the wrong side; the sign of an index is hard to see.
targets_from_the_next_window: positions + 1 -> positions + length
  Your targets are the window after the inputs, a whole window later.
  ? How many tokens has a model read that predicts the second target?
  # A sequence is split into what is read and what is to be predicted, as in time
    series and in a translation.
targets_rolled: token_ids[positions + 1] -> token_ids[positions].roll(-1, dims=-1)
  Your last target is the first input of the same window.
  ? Which token of the text comes after the last one of a window?
  # torch.roll(inputs, -1) shifts, and wraps around.
one_added_to_token_ids: token_ids[positions + 1] -> token_ids[positions] + 1
  Your targets are the inputs' token ids plus 1. A target is the token at the next
    position of the text, whatever its id.
  ? In the text 10, 12, 11, which token comes after 10: the one with id 11?
  # In a text 10, 11, 12, … the next token is the next number, as in the docstring's
    example.
targets_rolled_the_other_way:
  | token_ids[positions + 1] -> token_ids[positions].roll(1, dims=-1)
  Your targets are the inputs moved to the right: each is the token before, and the
    first is the window's last token.
  ? Which token should be the first target of a window: the one before its first
    input, or the one after it?
  # torch.roll(inputs, 1) moves to the right, and wraps around.
zero_as_last_target:
  | return ( … ->
  :     targets = token_ids[positions + 1]
  :     targets[:, -1] = 0
  :     return (token_ids[positions], targets)
  Your last target is 0 in each window.
  ? Which token of the text comes after the last one of a window?
  # The window alone is shifted, and what is missing is filled with zeros.
last_target_only: positions + 1 -> positions[:, -1] + 1
  Your targets hold one token per window: what comes after the whole of it.
  ? For how many positions of a window does a language model make a prediction?
  # N-gram and recurrent models are written like that: a context, and one token.
windows_behind_each_other:
  | positions = starts[0] + torch.arange(len(starts) * length).reshape(-1, length)
  Your windows stand one after another from the first start on: the other starts play
    no part.
  ? Where does the second window start, says `starts`?
  # A text that is cut into equal pieces needs one start only.
windows_numbered: starts.unsqueeze(-1) -> torch.arange(len(starts)).unsqueeze(-1)
  Your windows start at 0, 1, 2, …, at the number of each start in `starts` and not at
    the start itself.
  ? If `starts` is 7, 3, where does the window in row 0 begin?
  # range(len(starts)) gives numbers of rows, and starts[i] is forgotten.
windows_up_to_the_length:
  | positions = …
  : return ( … ->
  :     inputs = torch.stack([token_ids[start:length] for start in starts])
  :     targets = torch.stack([token_ids[start + 1:length + 1] for start in starts])
  :     return (inputs, targets)
  Your slices end at position `length` of the text, wherever they start: only a window
    that starts at 0 is `length` tokens long.
  ? At which position should a window end that starts at 7 and has 3 tokens?
  # The second number of a slice is taken for how many there are; it is an end.
windows_sorted: starts.unsqueeze(-1) -> starts.sort().values.unsqueeze(-1)
  Your windows are in the order of the text, not of `starts`.
  ? Which window is in row 0?
  # A mask over the text, or a sorted index, gives windows in their order.
windows_once_each: starts.unsqueeze(-1) -> starts.unique().unsqueeze(-1)
  Your windows come in order and each only once, where a start comes twice.
  ? How many rows does the docstring promise for five starts?
  # A set of starts, or a dictionary by start, has each of them once.
first_window_only: starts.unsqueeze(-1) -> starts[:1].unsqueeze(-1)
  Your result holds the first window only.
  ? How often does your loop run before it returns?
  # `return` is indented into the loop, or starts[0] is tried first and stays.
first_token_left_out: starts.unsqueeze(-1) -> starts.unsqueeze(-1) + 1
  Your windows begin one token too late.
  ? Which position has a window's first token, says the docstring?
  # The + 1 of the targets is added to the inputs as well.
last_window_refused: starts > last -> starts >= last
  Your code refuses the last window, though all of its targets are there.
  ? Which position has the last target of a window that starts at n − length − 1?
  # range(n - length - 1) and randint(0, n - length - 1) leave out their end.
one_token_shorter: torch.arange(length, -> torch.arange(length - 1,
  Your windows are one token shorter than `length`.
  ? How many tokens does a window need so that its inputs and its targets are `length`
    long?
  # chunk[:-1] and chunk[1:] of a chunk of `length` tokens, not of one more.
inputs_one_token_longer:
  | torch.arange(length, -> torch.arange(length + 1,
  | positions + 1 -> positions[:, 1:]
  Your inputs are one token longer than your targets.
  ? Is there a target for the last token of your inputs?
  # The chunk of length + 1 tokens is returned, and its targets are cut off.
targets_in_one_row: token_ids[positions + 1] -> token_ids[positions + 1].reshape(-1)
  Your targets stand in one row: the axis of the batch is gone.
  ? Which shape does the docstring promise for targets?
  # A loss wants them flat: get_batch in PyTorch's word language model returns them
    with view(-1).
length_before_batch:
  | positions = starts + torch.arange(length, device=starts.device).unsqueeze(-1)
  Your tensors have the shape (length, batch): a window is a column.
  ? What is a row of your inputs, and what should it be?
  # Recurrent networks of PyTorch read (length, batch) unless batch_first is set.
one_tensor_for_both:
  | return torch.stack([token_ids[positions], token_ids[positions + 1]])
  Your inputs and targets come in one tensor.
  ? How many results does the docstring promise?
  # torch.stack of both needs one name less.
token_ids_as_floats:
  | token_ids[positions], -> token_ids[positions].float(),
  | token_ids[positions + 1] -> token_ids[positions + 1].float()
  Your token ids are floats.
  ? Which dtype does torch.zeros have if none is asked for?
  # torch.zeros, torch.empty and torch.Tensor hold float32.
starts_moved:
  | return ( … ->
  :     inputs = token_ids[positions]
  :     starts += 1
  :     positions = starts.unsqueeze(-1) + torch.arange(length, device=starts.device)
  :     return (inputs, token_ids[positions])
  Your call adds 1 to the caller's `starts`.
  ? Does `starts += 1` make a new tensor, or write into the caller's?
  # The same lines make the targets, after `starts += 1`.
positions_returned: return (positions, positions + 1)
  Your result holds positions in the text, not the tokens that stand there.
  ? What do these positions have to index?
  # The positions are the hard part, and look like token ids.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("inputs"),
    families.squeezed(),
    families.as_list("a tensor"),
    families.as_numpy(),
)
