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


def utf_8(text):
    return len(text.encode())


LENGTHS = {
    "bytes": utf_8,
    "nothing": lambda text: 1,
    "characters": len,
    "words": lambda text: len(text.split()),
    "UTF-16": lambda text: len(text.encode("utf-16")),
    "UTF-16 without a mark": lambda text: len(text.encode("utf-16-le")),
    "UTF-32": lambda text: len(text.encode("utf-32-le")),
    "ASCII alone": lambda text: len(text.encode("ascii", "ignore")),
    "without space around": lambda text: utf_8(text.strip()),
    "without any space": lambda text: utf_8("".join(text.split())),
    "different bytes": lambda text: len({*text.encode()}),
    "one more": lambda text: utf_8(text) + 1,
    "two bytes each": lambda text: 2 * len(text),
}


@exercise.variants
def variants(
    losses,
    text,
    *,
    divided_by="bytes",
    summed="sum",
    unit="bits",
    refuses="nothing",
    returns="a float",
    written="nowhere",
):
    n = (
        losses.numel()
        if divided_by == "tokens"
        else LENGTHS.get(divided_by, utf_8)(text)
    )
    zero = refuses == "0" and (losses == 0).any()
    if zero or (refuses == "infinity" and losses.isinf().any()):
        raise ValueError("losses that are none")
    wide = losses.double().clone()
    if written == "into losses":
        losses /= math.log(2)
    total = {
        "mean": lambda: wide.mean(),
        "largest": lambda: wide.max(),
        "last": lambda: wide.reshape(-1)[-1],
        "finite": lambda: wide[wide.isfinite()].sum(),
        "last axis": lambda: wide.sum(-1),
        "mean over sequences": lambda: wide.sum(-1).mean(),
        "first sequence": lambda: wide[0].sum() if wide.ndim else wide,
        "product": lambda: wide.prod(),
    }.get(summed, lambda: wide.sum())()
    per_byte = total / n
    if unit == "perplexity of the sum":
        per_byte = total.exp() / n
    elif unit == "logarithm of the sum":
        per_byte = total.log2() / n
    elif unit == "log2 of each loss":
        per_byte = wide.log2().sum() / n
    elif unit == "perplexity per token":
        per_byte = wide.mean().exp()
    elif unit == "perplexity per token, by bytes":
        per_byte = wide.mean().exp() / n
    per_byte = {
        "nats": lambda: per_byte,
        "bits · (ln 2)²": lambda: per_byte * math.log(2),
        "decimal digits": lambda: per_byte / math.log(10),
        "perplexity": lambda: per_byte.exp(),
        "e to the bits": lambda: (per_byte / math.log(2)).exp(),
        "a share of 8": lambda: per_byte / math.log(2) / 8,
        "minus": lambda: -per_byte / math.log(2),
        "bytes per bit": lambda: math.log(2) / per_byte,
        "whole bits": lambda: (total / math.log(2)).ceil() / n,
        "perplexity of the sum": lambda: per_byte,
        "logarithm of the sum": lambda: per_byte,
        "log2 of each loss": lambda: per_byte,
        "perplexity per token": lambda: per_byte,
        "perplexity per token, by bytes": lambda: per_byte,
    }.get(unit, lambda: per_byte / math.log(2))()
    if returns == "a tensor" or per_byte.ndim:
        return per_byte
    return round(per_byte.item(), 4) if returns == "four digits" else per_byte.item()


exercise.option(
    "bits_per_token",
    "Your sum is divided by the number of tokens.",
    "Which of the two has more tokens for one text: a vocabulary of letters, or one of "
    "words?",
    why="A loss is nearly always given per token, and nanoGPT prints it so.",
    divided_by="tokens",
)
exercise.option(
    "bits_per_character",
    "Your sum is divided by the number of characters.",
    "How many bytes of UTF-8 does é have?",
    why="len(text) counts characters; for plain English both are the same, as in the "
    "bits per character of text8.",
    divided_by="characters",
)
exercise.option(
    "bits_per_word",
    "Your sum is divided by the number of words.",
    "Which unit does the docstring divide by?",
    why="Perplexities of language models were given per word for decades.",
    divided_by="words",
)
exercise.option(
    "bytes_of_utf_16",
    "Your bytes are those of UTF-16 with its mark.",
    "Which encoding does the docstring name?",
    why='"utf-16" is what Java and Windows keep texts in.',
    divided_by="UTF-16",
)
exercise.option(
    "bytes_of_utf_16_without_a_mark",
    "Your bytes are those of UTF-16.",
    "Which encoding does the docstring name?",
    why='"utf-16-le" is what Java and Windows keep texts in.',
    divided_by="UTF-16 without a mark",
)
exercise.option(
    "four_bytes_per_character",
    "Your bytes are four for each character, as in UTF-32.",
    "How many bytes has an a in UTF-8?",
    why="A character is a number of Unicode, and those fit into four bytes.",
    divided_by="UTF-32",
)
exercise.option(
    "two_bytes_per_character",
    "Your bytes are two for each character.",
    "How many bytes has an a in UTF-8?",
    why="Unicode is often said to have two bytes for a character.",
    divided_by="two bytes each",
)
exercise.option(
    "other_letters_left_out",
    "Your bytes leave out every character that is not ASCII.",
    "How many bytes of UTF-8 does é have?",
    why='encode("ascii", "ignore") ends an error, and drops letters.',
    divided_by="ASCII alone",
)
exercise.option(
    "text_stripped",
    "Your bytes leave out the space at the beginning and at the end of the text.",
    "Does the model predict the line break at the end?",
    why="strip() is the first thing that is done to a line of a file.",
    divided_by="without space around",
)
exercise.option(
    "spaces_left_out",
    "Your bytes leave out spaces and line breaks.",
    "Does the model predict spaces, too?",
    why="Word counts have no spaces, and a text is split into words first.",
    divided_by="without any space",
)
exercise.option(
    "different_bytes",
    "Your sum is divided by how many different bytes the text has.",
    "Is a byte counted each time it comes, or once?",
    why="set(…) makes a vocabulary, and its size is taken for a length.",
    divided_by="different bytes",
)
exercise.option(
    "one_byte_too_many",
    "Your text has one byte too many.",
    "How many bytes has the text itself?",
    why="C ends a string with a zero byte, and many corpora with an end token.",
    divided_by="one more",
)
exercise.option(
    "mean_of_the_losses",
    "Your mean of the losses, not their sum, is divided by the bytes.",
    "What should happen to the bits if the model needs twice as many tokens with the "
    "same loss each?",
    why="cross_entropy returns a mean unless told otherwise.",
    summed="mean",
)
exercise.option(
    "losses_multiplied",
    "Your losses are multiplied, not added.",
    "Which of the two is multiplied along a text: probabilities, or their logarithms?",
    why="Probabilities of a sequence are multiplied, and these are their logarithms.",
    summed="product",
)
exercise.option(
    "largest_loss",
    "Your result has the largest loss alone in it.",
    "How many tokens does the text have?",
    why="max() is written for sum(), or the worst token is looked for.",
    summed="largest",
)
exercise.option(
    "last_loss",
    "Your result has the last loss alone in it.",
    "Is total = … repeated in your loop, or total += …?",
    why="In a loop the sum is overwritten each time.",
    summed="last",
)
exercise.option(
    "infinite_losses_left_out",
    "Your sum leaves out infinite losses.",
    "How many bits does a text need to which the model gives probability 0?",
    why="Infinities spoil a mean, so they are filtered out like outliers.",
    summed="finite",
)
exercise.option(
    "sum_of_each_sequence",
    "Your losses are summed along their last axis alone.",
    "How many numbers does the docstring promise for losses of any shape?",
    why="sum(-1) is right for one sequence, and losses come in batches.",
    summed="last axis",
)
exercise.option(
    "mean_over_sequences",
    "Your losses are summed along their last axis, and averaged over all others.",
    "Whose losses are those in the second row: another text's, or the same one's?",
    why="A batch is averaged over nearly everywhere else.",
    summed="mean over sequences",
)
exercise.option(
    "first_sequence_alone",
    "Your sum is that of losses[0] alone.",
    "Which of the losses does your code read, if there are two axes?",
    why="losses[0] takes the batch axis off, which is right for a batch of one.",
    summed="first sequence",
)
exercise.option(
    "nats_per_byte",
    "Your result is in nats: nothing turns them into bits.",
    "How many nats is a bit, says the docstring?",
    why="PyTorch's losses are natural logarithms, and a unit is no number in the code.",
    unit="nats",
)
exercise.option(
    "multiplied_by_ln_2",
    "Your nats are multiplied by ln 2.",
    "Is a bit more than a nat, or less, and so: are there more bits, or fewer?",
    why="'A bit is ln 2 nats' is read as a factor.",
    unit="bits · (ln 2)²",
)
exercise.option(
    "decimal_digits",
    "Your unit is the decimal digit: the losses are divided by ln 10.",
    "Of which number is a bit the logarithm?",
    why="log10 is what 'log' means on a calculator.",
    unit="decimal digits",
)
exercise.option(
    "perplexity_per_byte",
    "Your result is a perplexity: e to the power of the nats per byte.",
    "What should a model that guesses bytes get: 8, or 256?",
    why="The perplexity is what papers on language models give.",
    unit="perplexity",
)
exercise.option(
    "e_to_the_bits",
    "Your result is e to the power of the bits per byte.",
    "What should a model that guesses bytes get?",
    why="The perplexity is taken of bits, with the base of the nats.",
    unit="e to the bits",
)
exercise.option(
    "exponential_of_the_sum",
    "Your result is e to the power of the summed losses, divided by the bytes.",
    "Are bits a logarithm, or a number of possibilities?",
    why="'Undo the logarithm' is the first step towards a perplexity.",
    unit="perplexity of the sum",
)
exercise.option(
    "logarithm_of_the_sum",
    "Your result has log2 of the sum: a logarithm of what are logarithms already.",
    "What is in losses: probabilities, or their logarithms?",
    why="log2 is taken for the way from nats to bits.",
    unit="logarithm of the sum",
)
exercise.option(
    "perplexity_divided_by_bytes",
    "Your result is the perplexity per token, e to the mean loss, divided by the "
    "number of bytes.",
    "Which steps does the docstring name between the losses and the result: is e to "
    "some power among them?",
    why="Perplexity is what papers report, and the bytes come in by the name.",
    unit="perplexity per token, by bytes",
)
exercise.option(
    "share_of_eight_bits",
    "Your result is a share: bits for each bit of the text.",
    "How many bits should a model that guesses bytes need for one?",
    why="Compression programs print such ratios.",
    unit="a share of 8",
)
exercise.option(
    "sign_turned",
    "Your result has the sign turned.",
    "Which sign has −ln p?",
    why="Losses are taken for log-probabilities, which are below 0.",
    unit="minus",
)
exercise.option(
    "bytes_per_bit",
    "Your result is upside down: bytes for each bit.",
    "Should a better model have a smaller number, or a larger one?",
    why="Compression ratios are often given as the size before over the size after.",
    unit="bytes per bit",
)
exercise.option(
    "whole_bits",
    "Your bits are rounded up to an integer before they are divided.",
    "Does the docstring round?",
    why="The bits of a file are counted.",
    unit="whole bits",
)
exercise.option(
    "rounded_to_four_digits",
    "Your result is rounded to four digits.",
    "Does the docstring round, or its example only?",
    why="The example prints round(…, 4).",
    returns="four digits",
)
exercise.option(
    "given_as_a_tensor",
    "Your number comes in a tensor.",
    "Which type does the docstring promise?",
    why="losses.sum() is a tensor, and stays one until .item() or float().",
    returns="a tensor",
)
exercise.option(
    "zero_refused",
    "Your function refuses losses of 0.",
    "Which probability has a loss of 0, and may a token have it?",
    why="'0 or more' and 'more than 0' are a character apart.",
    refuses="0",
)
exercise.option(
    "infinity_refused",
    "Your function refuses infinite losses.",
    "Which probability has an infinite loss, and may a token have it?",
    why="isfinite() catches NaN, and infinities along with it.",
    refuses="infinity",
)
exercise.option(
    "losses_in_bits_afterwards",
    "Your call turns the caller's losses into bits.",
    "Does `losses /= …` make a new tensor, or write into the caller's?",
    why="`losses /= math.log(2)` is the first half of the formula, in place.",
    written="into losses",
)
exercise.option(
    "bits_of_the_whole_text",
    "Your result is the bits of the whole text, which nothing divides by its length.",
    "Per what does the name of the function count the bits?",
    why="The last division is forgotten.",
    divided_by="nothing",
)
exercise.option(
    "log2_of_each_loss",
    "Your code takes log2 of each loss, which is a logarithm itself.",
    "By which number do you turn nats into bits?",
    why="Bits and log2 belong together: the loss is taken for a probability.",
    unit="log2 of each loss",
)
exercise.option(
    "perplexity_per_token",
    "Your result is the perplexity per token: e to the power of the mean loss.",
    "Which of tokens and bytes does the docstring divide by, and is any power of e "
    "in it?",
    why="Perplexity is the best-known number of a language model.",
    unit="perplexity per token",
)
