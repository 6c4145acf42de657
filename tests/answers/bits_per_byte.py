import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("bits_per_byte")


def refuse(losses, text):
    if len(text) == 0:
        raise ValueError("empty text")
    if torch.isnan(losses).any() or (losses < 0).any():
        raise ValueError("losses are −ln p")


@answers.correct
def sum_over_bytes(losses, text):
    refuse(losses, text)
    return (losses.sum() / np.log(2) / len(text.encode("utf-8"))).item()


@answers.correct
def bits_first(losses, text):
    refuse(losses, text)
    bits = losses * math.log2(math.e)
    return float(bits.sum()) / len(bytes(text, "utf-8"))


@answers.correct
def mean_times_tokens(losses, text):
    refuse(losses, text)
    n_tokens, n_bytes = losses.numel(), len(text.encode())
    return losses.mean().item() / math.log(2) * n_tokens / n_bytes


@answers.correct
def loop_in_python(losses, text):
    total, n_bytes = 0.0, 0
    for _ in text.encode():
        n_bytes += 1
    if not n_bytes:
        raise ValueError
    for loss in losses.flatten().tolist():
        if math.isnan(loss) or loss < 0:
            raise ValueError(loss)
        total += loss
    return total / n_bytes / math.log(2)


@answers.correct
def numpy_inside(losses, text):
    numbers = losses.numpy().astype(float)
    if not text or not np.all(numbers >= 0):
        raise ValueError("no text, or no losses")
    return np.sum(numbers) / (np.log(2) * np.frombuffer(text.encode(), "u1").size)


@answers.correct
def probabilities_again(losses, text):
    refuse(losses, text)
    return float(-torch.log2(torch.exp(-losses.double())).sum()) / len(text.encode())


@answers.correct
def change_of_base(losses, text):
    try:
        per_byte = float(losses.sum()) / len(text.encode())
    except ZeroDivisionError:
        raise ValueError("no bytes") from None
    if not bool(torch.all(losses >= 0)):
        raise ValueError("no losses")
    return per_byte / float(torch.log(torch.tensor(2.0, dtype=torch.float64)))


class NoBytes(ValueError):
    pass


class Called:
    def __call__(self, losses, text):
        if not text:
            raise NoBytes
        return sum_over_bytes(losses, text)


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda base, losses, text: sum_over_bytes(losses, text) / math.log2(base), 2
)


@answers.also("bits_per_token")
def mean_loss_in_bits(losses, text):
    refuse(losses, text)
    return losses.mean().item() / math.log(2)


@answers.also("bits_per_character")
def length_of_the_string(losses, text):
    refuse(losses, text)
    return float(losses.sum()) / math.log(2) / sum(1 for _ in text)


@answers.also("nats_per_byte")
def without_a_unit(losses, text):
    refuse(losses, text)
    return losses.sum().item() / len(text.encode())


@answers.other
def half_of_the_bits(losses, text):
    refuse(losses, text)
    return float(losses.sum()) / math.log(4) / len(text.encode())


@answers.other
def bytes_and_tokens(losses, text):
    refuse(losses, text)
    n = len(text.encode()) + losses.numel()
    return float(losses.sum()) / math.log(2) / n


@answers.other
def letters_alone(losses, text):
    refuse(losses, text)
    n_bytes = len("".join(filter(str.isalpha, text)).encode())
    return float(losses.sum()) / math.log(2) / max(n_bytes, 1)


@answers.other
def as_text(losses, text):
    refuse(losses, text)
    return f"{sum_over_bytes(losses, text)} bits per byte"
