import functools
import itertools
import re
import unicodedata

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


def cut(token):
    return token[:-4] if token[-4:] == "</w>" else token


@answers.also("mark_kept")
def added_up(tokens):
    text = ""
    for token in tokens:
        text = text + token
    return text


@answers.also("words_run_together")
def cut_and_added(tokens):
    text = ""
    for token in tokens:
        text += cut(token)
    return text


@answers.also("space_between_all_tokens")
def space_before_each_but_the_first(tokens):
    text = ""
    for position, token in enumerate(tokens):
        text += " " * (position > 0) + cut(token)
    return text


@answers.also("at_signs_removed")
def at_signs_by_regular_expression(tokens):
    return re.sub("@@ ", "", " ".join(tokens))


@answers.also("mark_replaced_everywhere")
def split_at_the_mark(tokens):
    text = " ".join("".join(tokens).split("</w>"))
    return text[:-1] if text.endswith(" ") else text


@answers.also("space_at_the_end")
def space_for_each_mark(tokens):
    spaces = [" " * token.endswith("</w>") for token in tokens]
    return "".join(cut(t) + space for t, space in zip(tokens, spaces, strict=True))


@answers.also("last_mark_kept")
def only_what_is_followed(tokens):
    text = ""
    for position, token in enumerate(tokens, 1):
        followed = position < len(tokens)
        if followed and token.endswith("</w>"):
            text += token[:-4] + " "
        else:
            text += token
    return text


@answers.also("stripped_at_both_ends")
def stripped(tokens):
    return space_for_each_mark(tokens).lstrip().rstrip()


@answers.also("spaces_in_a_row_joined")
def one_space_each(tokens):
    text = slices(tokens)
    while "  " in text:
        text = text.replace("  ", " ")
    return text


@answers.also("characters_of_the_mark_stripped")
def characters_taken_off_one_by_one(tokens):
    text = ""
    for token in tokens:
        ends = token[-4:] == "</w>"
        while token and token[-1] in "</w>":
            token = token[:-1]
        text += token + " " if ends else token
    return text[:-1] if text[-1:] == " " else text


@answers.also("last_four_characters_cut")
def four_less_at_the_end(tokens):
    *others, last = [*tokens] or [""]
    return space_for_each_mark(others) + last[: max(0, len(last) - 4)]


def letters(text):
    """Split a text into characters, each with the accents that follow it."""
    return re.findall(r".[\u0300-\u036f]*", text, re.DOTALL)


@answers.also("accents_composed")
def each_token_composed(tokens):
    return "".join(unicodedata.normalize("NFC", c) for c in letters(slices(tokens)))


@answers.also("empty_list_raises")
def last_by_its_number(tokens):
    text = ""
    for position in range(len(tokens) - 1):
        text += cut(tokens[position]) + " " * tokens[position].endswith("</w>")
    return text + cut(tokens[len(tokens) - 1])


@answers.also("last_token_changed")
def mark_taken_off_in_place(tokens):
    if tokens and tokens[-1].endswith("</w>"):
        tokens[-1] = tokens[-1][:-4]
    return words_first(tokens)


@answers.other
def space_before_marked_tokens(tokens):
    text = "".join(" " + cut(t) if t.endswith("</w>") else t for t in tokens)
    return text.removeprefix(" ")


@answers.other
def stripped_at_the_end_only(tokens):
    return space_for_each_mark(tokens).rstrip()


@answers.other
def last_word_lost(tokens):
    return slices(tokens).rpartition(" ")[0]


@answers.other
def lower_case(tokens):
    return space_for_each_mark(tokens).lower()


@answers.other
def each_mark_within_a_token_removed(tokens):
    return " ".join(token.replace("</w>", "") for token in tokens)
