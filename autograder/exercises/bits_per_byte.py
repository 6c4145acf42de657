"""Cases and misconceptions of ``bits_per_byte``."""

import math

import numpy as np
import torch

from autograder import Exercise
from course_lib.nn.language_data import bits_per_byte

exercise = Exercise(
    bits_per_byte,
    lesson="12_language_model",
    minutes=8,
    difficulty=2,
)


@exercise.spec
def spec(losses, text):
    n_bytes = 0
    for character in text:
        code = ord(character)
        n_bytes += 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)
    if n_bytes == 0:
        raise ValueError("the text is empty")
    bits = []
    for loss in losses.reshape(-1).tolist():
        if not loss >= 0:
            raise ValueError(f"a loss of {loss}")
        bits.append(loss / math.log(2))
    return math.fsum(bits) / n_bytes


# Characters of one byte each; of two, of three and of four.
ONE, MORE = "abcdefgh mnopqrst.,;", "éßñλжאॐ€語漢🙂🜁"


def drawn_text(rng, at_least, letters=ONE + MORE):
    """Draw a text; how long it is is drawn as well."""
    n_characters = int(rng.integers(at_least, at_least + 9))
    return "".join(rng.choice(list(letters), size=n_characters))


def drawn_losses(rng, *shape, dtype=torch.float64):
    """Draw losses of a model that has learned something."""
    return torch.from_numpy(np.array(rng.exponential(2.0, size=shape))).to(dtype)


@exercise.usual
def usual(rng):
    return drawn_losses(rng, 17), drawn_text(rng, 40)


@exercise.case(
    "Tokens of probability 1/8 and 1/2 in a text of two bytes: 2 bits per byte"
)
def small_example_by_hand(student, rng):
    losses = torch.tensor([math.log(8), math.log(2)], dtype=torch.float64)
    student.expect(student(losses, "to"), 2.0)
    student.agrees(drawn_losses(rng, 2), drawn_text(rng, 3, ONE))


@exercise.case("However many tokens there are, the bytes of the text count")
def tokens_are_not_counted(student, rng):
    text = drawn_text(rng, 24, ONE)
    for n_tokens in (24, 9, 1):
        student.agrees(drawn_losses(rng, n_tokens), text)


@exercise.case("In UTF-8 é has two bytes, € three, and 🙂 four")
def bytes_and_characters(student, rng):
    losses = torch.tensor([math.log(16)] * 3, dtype=torch.float64)
    for text, expected in (("é", 6.0), ("€", 4.0), ("🙂", 3.0), ("é€🙂", 12 / 9)):
        student.expect(student(losses, text), expected)
    student.agrees(drawn_losses(rng, 7), drawn_text(rng, 11, MORE))


@exercise.case("Spaces, the last one too, and line breaks are bytes of the text")
def white_space(student, rng):
    for end in (" ", "\n", "\r\n"):
        text = drawn_text(rng, 5) + end + "  " + drawn_text(rng, 6) + end
        student.agrees(drawn_losses(rng, 8), text)


@exercise.case("Losses of a batch, or a single one without an axis, are summed as well")
def any_shape(student, rng):
    student.agrees(drawn_losses(rng, 3, 5), drawn_text(rng, 31))
    student.agrees(drawn_losses(rng, 2, 3, 4), drawn_text(rng, 29))
    student.agrees(drawn_losses(rng), drawn_text(rng, 4))


@exercise.case(
    "A token of probability 1 needs no bits, one of probability 0 infinitely many"
)
def certain_and_impossible(student, rng):
    losses = drawn_losses(rng, 6)
    losses[2] = 0.0
    student.agrees(losses, drawn_text(rng, 9))
    losses[4] = math.inf
    student.agrees(losses, drawn_text(rng, 9))


@exercise.case("A model that guesses bytes needs 8 bits for each", visible=False)
def guessed_bytes(student, rng):
    text = drawn_text(rng, 30)
    n_bytes = len(text.encode())
    losses = torch.full((n_bytes,), math.log(256), dtype=torch.float64)
    student.expect(student(losses, text), 8.0)
    student.agrees(drawn_losses(rng, n_bytes), text)


@exercise.case("In float32, for thousands of tokens", visible=False)
def many_tokens(student, rng):
    losses = drawn_losses(rng, 20, 256, dtype=torch.float32)
    student.agrees(losses, drawn_text(rng, 9000))


@exercise.case("`losses` is not modified")
def arguments_stay(student, rng):
    student.leaves_unchanged(drawn_losses(rng, 2, 3), drawn_text(rng, 9))


exercise.edits(
    """
bits_per_token: math.log(2) / n_bytes -> math.log(2) / losses.numel()
  Your sum is divided by the number of tokens.
  ? Which of the two has more tokens for one text: a vocabulary of letters, or one of
    words?
  # A loss is nearly always given per token, and nanoGPT prints it so.
first_losses_only:
  | float(losses.double().sum()) ->
  :     float(sum(loss.flatten()[0].double() for loss in losses))
  Your sum has only the first number of losses[0], of losses[1] and so on, which losses
    without an axis do not have.
  ? Which numbers does losses[0] hold where losses has two axes?
  # A loop over a tensor is taken for one over its numbers.
bits_per_character: len(text.encode()) -> len(text)
  Your sum is divided by the number of characters.
  ? How many bytes of UTF-8 does é have?
  # len(text) counts characters; for plain English both are the same, as in the bits
    per character of text8.
bits_per_word: len(text.encode()) -> len(text.split())
  Your sum is divided by the number of words.
  ? Which unit does the docstring divide by?
  # Perplexities of language models were given per word for decades.
bytes_of_utf_16: text.encode() -> text.encode('utf-16')
  Your bytes are those of UTF-16 with its mark.
  ? Which encoding does the docstring name?
  # "utf-16" is what Java and Windows keep texts in.
bytes_of_utf_16_without_a_mark: text.encode() -> text.encode('utf-16-le')
  Your bytes are those of UTF-16.
  # "utf-16-le" is what Java and Windows keep texts in.
four_bytes_per_character: len(text.encode()) -> 4 * len(text)
  Your bytes are four for each character, as in UTF-32.
  ? How many bytes has an a in UTF-8?
  # A character is a number of Unicode, and those fit into four bytes.
two_bytes_per_character: len(text.encode()) -> 2 * len(text)
  Your bytes are two for each character.
  # Unicode is often said to have two bytes for a character.
other_letters_left_out:
  | return float(
  :     losses.double().sum()
  :     / math.log(2)
  :     / len(text.encode("ascii", "ignore"))
  : )
  Your bytes leave out every character that is not ASCII.
  ? How many bytes of UTF-8 does é have?
  # encode("ascii", "ignore") ends an error, and drops letters.
text_stripped: text.encode() -> text.strip().encode()
  Your bytes leave out the space at the beginning and at the end of the text.
  ? Does the model predict the line break at the end?
  # strip() is the first thing that is done to a line of a file.
spaces_left_out: text.encode() -> ''.join(text.split()).encode()
  Your bytes leave out spaces and line breaks.
  ? Does the model predict spaces, too?
  # Word counts have no spaces, and a text is split into words first.
different_bytes: len(text.encode()) -> len(set(text.encode()))
  Your sum is divided by how many different bytes the text has.
  ? Is a byte counted each time it comes, or once?
  # set(…) makes a vocabulary, and its size is taken for a length.
one_byte_too_many: len(text.encode()) -> len(text.encode()) + 1
  Your text has one byte too many.
  ? How many bytes has the text itself?
  # C ends a string with a zero byte, and many corpora with an end token.
mean_of_the_losses: .sum() -> .mean()
  Your mean of the losses, not their sum, is divided by the bytes.
  ? What should happen to the bits if the model needs twice as many tokens with the
    same loss each?
  # cross_entropy returns a mean unless told otherwise.
losses_multiplied: .sum() -> .prod()
  Your losses are multiplied, not added.
  ? Which of the two is multiplied along a text: probabilities, or their logarithms?
  # Probabilities of a sequence are multiplied, and these are their logarithms.
largest_loss: .sum() -> .max()
  Your result has the largest loss alone in it.
  ? How many tokens does the text have?
  # max() is written for sum(), or the worst token is looked for.
last_loss: losses.double().sum() -> losses.double().reshape(-1)[-1]
  Your result has the last loss alone in it.
  ? Is total = … repeated in your loop, or total += …?
  # In a loop the sum is overwritten each time.
infinite_losses_left_out:
  | losses.double().sum() -> losses[losses.isfinite()].double().sum()
  Your sum leaves out infinite losses.
  ? How many bits does a text need to which the model gives probability 0?
  # Infinities spoil a mean, so they are filtered out like outliers.
sum_of_each_sequence:
  | return float( … ->
  :     sums = losses.double().sum(dim=-1) / math.log(2) / n_bytes
  :     return sums if sums.ndim else float(sums)
  Your losses are summed along their last axis alone.
  ? How many numbers does the docstring promise for losses of any shape?
  # sum(-1) is right for one sequence, and losses come in batches.
mean_over_sequences: .sum() -> .sum(dim=-1).mean()
  Your losses are summed along their last axis, and averaged over all others.
  ? Whose losses are those in the second row: another text's, or the same one's?
  # A batch is averaged over nearly everywhere else.
first_sequence_alone: losses.double().sum() -> losses[0].double().sum()
  Your sum is that of losses[0] alone.
  ? Which of the losses does your code read, if there are two axes?
  # losses[0] takes the batch axis off, which is right for a batch of one.
nats_per_byte: / math.log(2) / n_bytes -> / n_bytes
  Your result is in nats: nothing turns them into bits.
  ? How many nats is a bit, says the docstring?
  # PyTorch's losses are natural logarithms, and a unit is no number in the code.
multiplied_by_ln_2: / math.log(2) -> * math.log(2)
  Your nats are multiplied by ln 2.
  ? Is a bit more than a nat, or less, and so: are there more bits, or fewer?
  # 'A bit is ln 2 nats' is read as a factor.
decimal_digits: math.log(2) -> math.log(10)
  Your unit is the decimal digit: the losses are divided by ln 10.
  ? Of which number is a bit the logarithm?
  # log10 is what 'log' means on a calculator.
perplexity_per_byte: return float((losses.double().sum() / n_bytes).exp())
  Your result is a perplexity: e to the power of the nats per byte.
  ? What should a model that guesses bytes get: 8, or 256?
  # The perplexity is what papers on language models give.
e_to_the_bits: return float((losses.double().sum() / math.log(2) / n_bytes).exp())
  Your result is e to the power of the bits per byte.
  ? What should a model that guesses bytes get?
  # The perplexity is taken of bits, with the base of the nats.
exponential_of_the_sum:
  | float(losses.double().sum()) / math.log(2) -> float(losses.double().sum().exp())
  Your result is e to the power of the summed losses, divided by the bytes.
  ? Are bits a logarithm, or a number of possibilities?
  # 'Undo the logarithm' is the first step towards a perplexity.
logarithm_of_the_sum:
  | float(losses.double().sum()) / math.log(2) -> float(losses.double().sum().log2())
  Your result has log2 of the sum: a logarithm of what are logarithms already.
  ? What is in losses: probabilities, or their logarithms?
  # log2 is taken for the way from nats to bits.
perplexity_divided_by_bytes:
  | float(losses.double().sum()) / math.log(2) -> float(losses.double().mean().exp())
  Your result is the perplexity per token, e to the mean loss, divided by the number
    of bytes.
  ? Which steps does the docstring name between the losses and the result: is e to
    some power among them?
  # Perplexity is what papers report, and the bytes come in by the name.
share_of_eight_bits: math.log(2) / n_bytes -> math.log(2) / (8 * n_bytes)
  Your result is a share: bits for each bit of the text.
  ? How many bits should a model that guesses bytes need for one?
  # Compression programs print such ratios.
sign_turned: return float -> return -float
  Your result has the sign turned.
  ? Which sign has −ln p?
  # Losses are taken for log-probabilities, which are below 0.
bytes_per_bit: return float(n_bytes * math.log(2) / losses.double().sum())
  Your result is upside down: bytes for each bit.
  ? Should a better model have a smaller number, or a larger one?
  # Compression ratios are often given as the size before over the size after.
whole_bits:
  | float(losses.double().sum()) / math.log(2) ->
  :     float((losses.double().sum() / math.log(2)).ceil())
  Your bits are rounded up to an integer before they are divided.
  ? Does the docstring round?
  # The bits of a file are counted.
rounded_to_four_digits:
  | return round(float(losses.double().sum()) / math.log(2) / n_bytes, 4)
  Your result is rounded to four digits.
  ? Does the docstring round, or its example only?
  # The example prints round(…, 4).
given_as_a_tensor: float(losses.double().sum()) -> losses.double().sum()
  Your number comes in a tensor.
  ? Which type does the docstring promise?
  # losses.sum() is a tensor, and stays one until .item() or float().
zero_refused: losses >= 0 -> losses > 0
  Your function refuses losses of 0.
  ? Which probability has a loss of 0, and may a token have it?
  # '0 or more' and 'more than 0' are a character apart.
infinity_refused: (losses >= 0).all() -> ((losses >= 0) & losses.isfinite()).all()
  Your function refuses infinite losses.
  ? Which probability has an infinite loss, and may a token have it?
  # isfinite() catches NaN, and infinities along with it.
losses_in_bits_afterwards:
  | return float( … ->
  :     losses /= math.log(2)
  :     return float(losses.double().sum()) / n_bytes
  Your call turns the caller's losses into bits.
  ? Which line of yours writes into the tensor that the caller holds?
  # `losses /= math.log(2)` is the first half of the formula, in place.
bits_of_the_whole_text: math.log(2) / n_bytes -> math.log(2)
  Your result is the bits of the whole text, which nothing divides by its length.
  ? Per what does the name of the function count the bits?
  # The last division is forgotten.
log2_of_each_loss:
  | float(losses.double().sum()) / math.log(2) -> float(losses.double().log2().sum())
  Your code takes log2 of each loss, which is a logarithm itself.
  ? By which number do you turn nats into bits?
  # Bits and log2 belong together: the loss is taken for a probability.
perplexity_per_token: return float(losses.double().mean().exp())
  Your result is the perplexity per token: e to the power of the mean loss.
  ? Which of tokens and bytes does the docstring divide by, and is any power of e in
    it?
  # Perplexity is the best-known number of a language model.
""",
)
