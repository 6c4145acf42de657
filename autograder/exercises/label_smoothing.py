"""Cases and misconceptions of ``label_smoothing``."""

import torch

from autograder import Exercise, families
from course_lib.nn.losses import label_smoothing

exercise = Exercise(
    label_smoothing,
    lesson="10_training",
    minutes=10,
    difficulty=1,
)


@exercise.spec
def spec(targets, vocab_size, smoothing):
    rows = []
    for right in targets.reshape(-1).tolist():
        row = [float(smoothing) / vocab_size for _ in range(vocab_size)]
        row[right] += 1 - float(smoothing)
        rows.append(row)
    distributions = torch.tensor(rows, dtype=torch.float32)
    return distributions.reshape(*targets.shape, vocab_size)


def tokens(rng, vocab_size, *shape):
    return torch.from_numpy(rng.integers(0, vocab_size, size=shape))


@exercise.usual
def usual(rng):
    return tokens(rng, 7, 2, 5), 7, 0.125


@exercise.case(
    "A smoothing of 0.5 over 4 tokens: the right one gets 0.625, the others 0.125"
)
def small_example_by_hand(student, rng):
    expected = torch.tensor([[0.125, 0.125, 0.625, 0.125]])
    student.expect(student(torch.tensor([2]), 4, 0.5), expected)
    student.agrees(torch.tensor(rng.permutation(4)), 4, 0.5)


@exercise.case("Token 0 is a token like the others")
def token_zero(student, rng):
    student.agrees(torch.tensor([0, 3, 4, 0, 1]), 6, 0.25)


@exercise.case("Any number of axes may come first, also none", weight=2)
def leading_axes(student, rng):
    student.agrees(tokens(rng, 5, 2, 3), 5, 0.25)
    student.agrees(tokens(rng, 5, 2, 3, 4), 5, 0.125)
    student.agrees(torch.tensor(3), 5, 0.25)


@exercise.case(
    "A row is as long as the vocabulary, even if the last token is never right"
)
def last_token_never_right(student, rng):
    student.agrees(tokens(rng, 4, 6), 9, 0.5)


@exercise.case(
    "A smoothing of 0 leaves all to the right token, one of 1 gives each the same",
    weight=0.5,
)
def nothing_and_everything(student, rng):
    targets = tokens(rng, 5, 4)
    student.agrees(targets, 5, 0.0)
    student.expect(student(targets, 5, 1.0), torch.full((4, 5), 0.2))


@exercise.case("Each row sums to 1", visible=False, pays_alone=False)
def rows_sum_to_one(student, rng):
    result = student(tokens(rng, 11, 3, 4), 11, 0.75)
    student.expect(result.sum(dim=-1), torch.ones(3, 4), what="the sums of the rows")


@exercise.case("The targets are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(tokens(rng, 6, 3, 4), 6, 0.25)


exercise.edits(
    """
spread_over_the_others:
  | smoothing / vocab_size -> smoothing / (vocab_size - 1)
  | scatter_add -> scatter
  Your smoothing goes to the other tokens only: each of them has smoothing / (V − 1),
    the right one 1 − smoothing.
  ? Over how many tokens does the docstring spread the smoothing?
  # Many texts say 'the rest is for the others', and rows sum to 1 as well.
divided_by_two_less:
  | smoothing / vocab_size -> smoothing / (vocab_size - 2)
  | scatter_add -> scatter
  Your others have smoothing / (V − 2) each, and the right one 1 − smoothing.
  ? What is the sum of one of your rows?
  # The Annotated Transformer divides by size − 2, because there padding gets nothing;
    without that, rows sum to more than 1.
right_token_without_its_part: scatter_add -> scatter
  Your right token lacks its own part of what is spread: rows sum to less than 1.
  ? Is the right token one of those over which the smoothing is spread?
  # scatter writes 1 − smoothing over what fill has put there.
smoothing_on_top: 1 - smoothing -> 1.0
  Your right token keeps its whole 1, and the smoothing comes on top: rows sum to more
    than 1.
  ? From which token is what the others get taken away?
  # one_hot + smoothing / vocab_size is short, and looks like the paper's rule.
right_token_stays_one:
  | 1 - smoothing -> 1.0
  | scatter_add -> scatter
  Your right token has exactly 1, and the others their part of the smoothing.
  # torch.where(right, 1, smoothing / vocab_size) changes the zeros only.
smoothing_not_divided: smoothing / vocab_size -> smoothing
  Your tokens get the whole smoothing each, the right one on top of the rest.
  ? How much do all tokens together get, if each gets the whole smoothing?
  # 'a value of 0.1' in the paper is read as what each wrong token gets.
others_get_the_whole_smoothing:
  | smoothing / vocab_size -> smoothing
  | scatter_add -> scatter
  Your right token has 1 − smoothing, and each of the others the whole smoothing.
  ? What is the sum of one of your rows?
  # With two tokens that is right: one gets 0.9, the other 0.1.
not_smoothed:
  | smoothing / vocab_size -> 0.0
  | 1 - smoothing -> 1.0
  Your right token has 1, and the others 0: nothing is smoothed.
  ? Where does your function use its last argument?
  # one_hot is the first step, and the second is left out.
divided_by_the_positions: smoothing / vocab_size -> smoothing / targets.shape[-1]
  Your smoothing is divided by the number of positions, not by vocab_size.
  ? Over what is the smoothing spread: the positions of a sequence, or the tokens?
  # targets.shape[-1] and vocab_size are both 'the last size' at some moment.
smoothing_and_rest_exchanged:
  | smoothing / vocab_size -> (1 - smoothing) / vocab_size
  | 1 - smoothing -> smoothing
  Your smoothing and 1 − smoothing are exchanged.
  ? With a smoothing of 0.1, how much is left to the right token?
  # smoothing and confidence are exchanged: both are numbers between 0 and 1.
smoothing_written_in: smoothing = 0.1
  Your smoothing is 0.1, whatever the caller says.
  ? Where does your function use its last argument?
  # The value of the paper is written into the formula.
token_ids_from_one: targets.unsqueeze(-1) -> targets.unsqueeze(-1) - 1
  The column of your right token is the one before its token id.
  ? Which column belongs to token id 0?
  # Tokens are counted from 1, and column 0 is taken for the first of them.
as_long_as_the_largest_target:
  | (*targets.shape, vocab_size) -> (*targets.shape, int(targets.max()) + 1)
  Your rows are as long as the largest target asks for, not as the vocabulary.
  ? How does your function know how many tokens there are, if the last one is never
    right?
  # one_hot(targets) without a number of classes counts up to the largest.
one_column_too_many: (*targets.shape, vocab_size) -> (*targets.shape, vocab_size + 1)
  Your rows are longer by one than the vocabulary.
  ? How many token ids are there from 0 to vocab_size − 1?
  # vocab_size is taken for the largest token id.
token_zero_gets_nothing:
  | , right) ->
  :     , right) * (torch.arange(vocab_size) > 0) * (targets != 0).unsqueeze(-1)
  Your token 0 gets nothing, and where it is the right one the whole row is 0.
  ? Does the docstring treat any token differently?
  # The Annotated Transformer smooths so, with 0 for padding;
    harvardnlp/annotated-transformer, issues 38 and 39, stumble over the empty rows.
column_of_token_zero_empty:
  | return even. … ->
  :     smoothed = even.scatter_add(-1, targets.unsqueeze(-1), right)
  :     smoothed[..., 0] = 0.0
  :     return smoothed
  Your token 0 gets nothing, also where it is the right one.
  # 0 is taken for padding, and its column is emptied.
two_less_and_column_of_token_zero_empty:
  | smoothing / vocab_size -> smoothing / (vocab_size - 2)
  | return even. … ->
  :     smoothed = even.scatter(-1, targets.unsqueeze(-1), right)
  :     smoothed[..., 0] = 0.0
  :     return smoothed
  Your token 0 gets nothing, the right token 1 − smoothing, and each of the others
    smoothing / (V − 2).
  ? Over how many tokens does the docstring spread the smoothing?
  # So does The Annotated Transformer, where token 0 is padding.
one_less_and_column_of_token_zero_empty:
  | smoothing / vocab_size -> smoothing / (vocab_size - 1)
  | return even. … ->
  :     smoothed = even.scatter(-1, targets.unsqueeze(-1), right)
  :     smoothed[..., 0] = 0.0
  :     return smoothed
  Your token 0 gets nothing, the right token 1 − smoothing, and each of the others
    smoothing / (V − 1).
  # The right token is not counted, and token 0 is taken for padding.
rows_of_token_zero_empty:
  | return even. … ->
  :     smoothed = even.scatter_add(-1, targets.unsqueeze(-1), right)
  :     smoothed[targets == 0] = 0.0
  :     return smoothed
  Where token 0 is the right one, your whole row is 0.
  # 0 is taken for padding, and its rows are emptied.
axes_flattened:
  | return even.scatter_add(-1, targets.unsqueeze(-1), right).reshape(-1, vocab_size)
  Your rows stand in one long table: the leading axes are gone.
  ? Which shape does the docstring promise for targets of shape (2, 3)?
  # Losses flatten with view(-1) before they smooth.
vocabulary_first:
  | return even.scatter_add(-1, targets.unsqueeze(-1), right).movedim(-1, 0)
  The axis of the vocabulary comes first in your result.
  # PyTorch's classes stand before the positions, and stack adds axis 0.
array_returned: return even.scatter_add(-1, targets.unsqueeze(-1), right).numpy()
  Your result is a NumPy array, not a tensor.
  ? Which type has the docstring's example?
  # np.eye(vocab_size)[targets] is handed on as it is.
logarithms_returned: return even.scatter_add(-1, targets.unsqueeze(-1), right).log()
  Your result holds logarithms.
  ? What should a row of the result sum to?
  # KLDivLoss wants logarithms of one of its two distributions.
cut_to_whole_numbers: return even.scatter_add(-1, targets.unsqueeze(-1), right).long()
  Your result holds integers: what follows the decimal point is lost.
  ? Which dtype has the tensor that you write the shares into?
  # one_hot and zeros_like(targets) hold integers.
axis_added_in_place: targets.unsqueeze( -> targets.unsqueeze_(
  Your call gives the caller's targets one axis more.
  ? What does the underscore at the end of `unsqueeze_` say?
  # scatter wants targets with a last axis, and unsqueeze_ gives it in place.
""",
)

exercise.family(families.squeezed())
