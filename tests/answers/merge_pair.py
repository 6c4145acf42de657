import functools
import itertools
import re

from tests.answers import Answers

answers = Answers("merge_pair")


@answers.correct
def list_that_shrinks(symbols, pair):
    """Join in place, as the Hugging Face course does with its words."""
    word = list(symbols)
    position = 0
    while position < len(word) - 1:
        if (word[position], word[position + 1]) == pair:
            word[position : position + 2] = ["".join(pair)]
        position += 1
    return tuple(word)


@answers.correct
def last_of_the_new_word(symbols, pair):
    """Join to the last symbol of the new word unless that one is joined already."""
    merged, free = [], False
    for symbol in symbols:
        if free and (merged[-1], symbol) == pair:
            merged[-1] += symbol
            free = False
        else:
            merged.append(symbol)
            free = True
    return tuple(merged)


@answers.correct
def recursive(symbols, pair):
    if len(symbols) < 2:
        return symbols
    if symbols[:2] == pair:
        return ("".join(pair), *recursive(symbols[2:], pair))
    return (symbols[0], *recursive(symbols[1:], pair))


@answers.correct
def pattern_of_whole_symbols(symbols, pair):
    """Replace in a text, as the program printed in the paper does."""
    pattern = r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)"
    text = re.sub(pattern, lambda _: "".join(pair), " ".join(symbols))
    return tuple(text.split())


@answers.correct
def iterator(symbols, pair):
    def walk():
        rest = iter(symbols)
        held = next(rest, None)
        for symbol in rest:
            if (held, symbol) == pair:
                yield held + symbol
                held = next(rest, None)
            else:
                yield held
                held = symbol
        if held is not None:
            yield held

    return tuple(walk())


@answers.correct
def index_of_the_left_symbol(symbols, pair):
    left, right = pair
    merged, start = [], 0
    while start < len(symbols):
        try:
            at = symbols.index(left, start)
        except ValueError:
            merged += symbols[start:]
            break
        merged += symbols[start:at]
        fits = at + 1 < len(symbols) and symbols[at + 1] == right
        merged.append(left + right if fits else left)
        start = at + 2 if fits else at + 1
    return tuple(merged)


@answers.correct
def positions_chosen_first(symbols, pair):
    chosen = []
    for position in range(len(symbols) - 1):
        taken = bool(chosen) and chosen[-1] == position - 1
        if symbols[position : position + 2] == pair and not taken:
            chosen.append(position)
    right = {position + 1 for position in chosen}
    return tuple(
        symbol + (pair[1] if position in chosen else "")
        for position, symbol in enumerate(symbols)
        if position not in right
    )


class MergePair:
    def __call__(self, symbols, pair):
        def step(state, symbol):
            done, held = state
            if held is not None and (held, symbol) == pair:
                return (*done, held + symbol), None
            return (done if held is None else (*done, held)), symbol

        done, held = functools.reduce(step, symbols, ((), None))
        return done if held is None else (*done, held)


answers.right["callable_object"] = MergePair()
answers.right["partial"] = functools.partial(
    lambda make, symbols, pair: make(recursive(symbols, pair)), tuple
)


@answers.other
def everything_joined(symbols, pair):
    return ("".join(symbols),)


@answers.other
def pairs_of_any_symbols(symbols, pair):
    return tuple("".join(symbols[i : i + 2]) for i in range(0, len(symbols), 2))


@answers.other
def runs_of_either_joined(symbols, pair):
    groups = itertools.groupby(symbols, key=lambda symbol: symbol in pair)
    return tuple(
        part for inside, run in groups for part in (["".join(run)] if inside else run)
    )
