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


@answers.also("advanced_by_one")
def each_symbol_with_the_next(symbols, pair):
    following = (*symbols[1:], None)
    return tuple(
        one + (other if (one, other) == pair else "")
        for one, other in zip(symbols, following, strict=False)
    )


@answers.also("middle_used_twice")
def all_positions_looked_up_first(symbols, pair):
    positions = [i for i in range(len(symbols)) if symbols[i : i + 2] == pair]
    merged = {i: "".join(pair) for i in positions}
    used = {i + 1 for i in positions}
    rest = {i: s for i, s in enumerate(symbols) if i not in used}
    return tuple(word for _, word in sorted({**rest, **merged}.items()))


@answers.also("from_the_right")
def turned_twice(symbols, pair):
    turned, merged, position = symbols[::-1], [], 0
    while position < len(turned):
        here = turned[position : position + 2] == pair[::-1]
        merged.append("".join(pair) if here else turned[position])
        position += 1 + here
    return tuple(merged[::-1])


@answers.also("first_position_only")
def done_after_one(symbols, pair):
    merged, done = [], False
    rest = list(symbols)
    while rest:
        if not done and tuple(rest[:2]) == pair:
            merged.append(rest.pop(0) + rest.pop(0))
            done = True
        else:
            merged.append(rest.pop(0))
    return tuple(merged)


@answers.also("text_replaced")
def pattern_without_edges(symbols, pair):
    pattern = re.compile(re.escape(pair[0]) + " " + re.escape(pair[1]))
    text = pattern.sub(lambda _: pair[0] + pair[1], " ".join(symbols))
    return tuple(text.split(" ")) if text else ()


@answers.also("letters_for_symbols")
def letters_read_in_pairs(symbols, pair):
    letters = [letter for symbol in symbols for letter in symbol]
    return last_of_the_new_word(letters, pair)


@answers.also("made_text_compared")
def looked_up_by_what_comes_out(symbols, pair):
    made, merged, free = "".join(pair), [], False
    for symbol in symbols:
        if free and merged[-1] + symbol == made:
            merged[-1], free = made, False
        else:
            merged.append(symbol)
            free = True
    return tuple(merged)


@answers.also("direction_ignored")
def sorted_pair(symbols, pair):
    in_order, merged, position = sorted(pair), [], 0
    while position < len(symbols):
        here = sorted(symbols[position : position + 2]) == in_order
        merged.append("".join(symbols[position : position + 1 + here]))
        position += 1 + here
    return tuple(merged)


@answers.also("last_symbol_lost")
def dropped_if_alone(symbols, pair):
    whole = recursive(symbols, pair)
    joined_at_the_end = recursive((*symbols, "#"), pair)[-2:-1] == ("".join(pair),)
    single = not joined_at_the_end or symbols[-1:] == ("".join(pair),)
    return whole[:-1] if single else whole


@answers.also("pair_at_the_end_missed")
def for_loop_with_a_skip(symbols, pair):
    merged, skip = [], False
    for position, symbol in enumerate(symbols):
        if skip:
            skip = False
        elif len(symbols[position:]) > 2 and symbols[position : position + 2] == pair:
            merged.append(symbol + symbols[position + 1])
            skip = True
        else:
            merged.append(symbol)
    return tuple(merged)


@answers.also("joined_with_a_blank")
def blank_put_between(symbols, pair):
    if len(symbols) < 2:
        return symbols
    if symbols[:2] == pair:
        return (" ".join(pair), *blank_put_between(symbols[2:], pair))
    return (symbols[0], *blank_put_between(symbols[1:], pair))


@answers.also("mark_ignored")
def mark_cut_off_before_comparing(symbols, pair):
    bare = [symbol.replace("</w>", "") for symbol in symbols]
    bare_pair = [symbol.replace("</w>", "") for symbol in pair]
    merged, position = [], 0
    while position < len(symbols):
        width = 2 if bare[position : position + 2] == bare_pair else 1
        merged.append("".join(symbols[position : position + width]))
        position += width
    return tuple(merged)


@answers.also("list_returned")
def list_built_up(symbols, pair):
    merged = []
    for symbol in recursive(symbols, pair):
        merged.append(symbol)
    return merged


@answers.also("pattern_not_escaped")
def pattern_between_blanks(symbols, pair):
    pattern = re.compile(rf"(?<= ){pair[0]} {pair[1]}(?= )")
    text = " " + " ".join(symbols) + " "
    return tuple(pattern.sub(lambda _: pair[0] + pair[1], text).split())


@answers.other
def nothing_joined(symbols, pair):
    return symbols


@answers.other
def everything_joined(symbols, pair):
    return ("".join(symbols),)


@answers.other
def pairs_of_any_symbols(symbols, pair):
    return tuple("".join(symbols[i : i + 2]) for i in range(0, len(symbols), 2))


@answers.other
def left_symbol_is_enough(symbols, pair):
    merged, position = [], 0
    while position < len(symbols):
        width = 2 if symbols[position] == pair[0] else 1
        merged.append("".join(symbols[position : position + width]))
        position += width
    return tuple(merged)


@answers.other
def runs_joined_whole(symbols, pair):
    groups = itertools.groupby(symbols, key=lambda symbol: symbol in pair)
    return tuple(
        part for inside, run in groups for part in (["".join(run)] if inside else run)
    )


@answers.other
def right_before_left(symbols, pair):
    return tuple(
        pair[1] + pair[0] if symbol == "".join(pair) else symbol
        for symbol in recursive(symbols, pair)
    )


@answers.other
def pair_taken_out(symbols, pair):
    merged, position = [], 0
    while position < len(symbols):
        here = symbols[position : position + 2] == pair
        merged += [] if here else [symbols[position]]
        position += 2 if here else 1
    return tuple(merged)
