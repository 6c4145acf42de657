import functools
import itertools
import re

from tests.answers import Answers

answers = Answers("decode")


@answers.correct
def regular_expression(tokens):
    """Mark the ends of tokens with a character that no token holds."""
    text = "\0".join([*tokens, ""])
    text = re.sub("</w>\0$", "\0", text)
    return text.replace("</w>\0", " ").replace("\0", "")


@answers.correct
def slices(tokens):
    parts = []
    for token in tokens[:-1]:
        parts.append(token[:-4] + " " if token[-4:] == "</w>" else token)
    if tokens:
        parts.append(tokens[-1].removesuffix("</w>"))
    return "".join(parts)


@answers.correct
def words_first(tokens):
    words, word = [], ""
    for token in tokens:
        word += token.removesuffix("</w>")
        if token.endswith("</w>"):
            words.append(word)
            word = ""
    unfinished = bool(tokens) and not tokens[-1].endswith("</w>")
    return " ".join([*words, word] if unfinished else words)


@answers.correct
def recursion(tokens):
    if not tokens:
        return ""
    first, *rest = tokens
    ends = first.endswith("</w>")
    return first[: -4 if ends else None] + " " * (ends and bool(rest)) + recursion(rest)


@answers.correct
def reduced(tokens):
    def add(text, token):
        return text + (token[:-4] + " " if token.endswith("</w>") else token)

    text = functools.reduce(add, tokens, "")
    return text[:-1] if tokens and tokens[-1].endswith("</w>") else text


@answers.correct
def pairs_with_the_next(tokens):
    text = ""
    for token, following in itertools.zip_longest(tokens, tokens[1:]):
        cut = re.fullmatch("(.*)</w>", token, re.DOTALL)
        text += (cut[1] if cut else token) + (
            " " if cut and following is not None else ""
        )
    return text


class Decoder:
    def __init__(self, mark):
        self.mark = mark

    def __call__(self, tokens):
        text = ""
        for token in tokens[::-1]:
            ends = token.endswith(self.mark)
            text = token[: len(token) - ends * len(self.mark)] + " " * ends + text
        return text[: len(text) - bool(tokens and tokens[-1].endswith(self.mark))]


answers.right["callable_object"] = Decoder("</w>")
answers.right["partial"] = functools.partial(
    lambda mark, tokens: Decoder(mark)(tokens), "</w>"
)


@answers.other
def last_word_lost(tokens):
    return slices(tokens).rpartition(" ")[0]


@answers.other
def upper_case(tokens):
    return slices(tokens).upper()


@answers.other
def each_mark_within_a_token_removed(tokens):
    return "-".join(token.replace("</w>", "") for token in tokens)


@answers.other
def new_line_for_a_mark(tokens):
    return slices(tokens).replace(" ", "\n")
