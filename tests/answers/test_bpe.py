import collections
import random

from tests.answers import Answers

answers = Answers("test_bpe")


def learned(words, n_merges):
    """Learn merges in texts with a blank between two symbols."""
    rows = [[count, *word] for word, count in words.items()]
    merges = []
    for _ in range(n_merges):
        counts = collections.defaultdict(int)
        for count, *symbols in rows:
            for i in range(1, len(symbols)):
                counts[symbols[i - 1], symbols[i]] += count
        ranked = sorted((count, pair) for pair, count in counts.items())
        if not ranked or ranked[-1][0] < 2:
            break
        best = ranked[-1][1]
        merges.append(best)
        for row in rows:
            i = 1
            while i < len(row) - 1:
                if (row[i], row[i + 1]) == best:
                    row[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@answers.correct
def against_my_own(train_bpe):
    dice = random.Random(5)
    for number in range(40):
        words = {}
        for _ in range(dice.randint(0, 12)):
            word = tuple(dice.choices("abc", k=dice.randint(1, 8)))
            words[word] = dice.randint(1, 6)
        n_merges = dice.choice([0, 1, 5, 60])
        assert train_bpe(words, n_merges) == learned(words, n_merges), number


@answers.correct
def by_hand(train_bpe):
    assert train_bpe({("a", "b"): 3}, 0) == []
    assert train_bpe({("e", "a", "t"): 2, ("a", "t"): 3}, 5) == [
        ("a", "t"),
        ("e", "at"),
    ]
    # Frequencies: once in three words is less than four times in one.
    words = {("x", "y"): 1, ("a", "x", "y"): 1, ("x", "y", "c"): 1, ("p", "q"): 4}
    assert train_bpe(words, 9) == [("p", "q"), ("x", "y")]
    # Runs, from the left and with overlaps: aa aa a, and (a, a) is there four times.
    words = {("a",) * 5: 1, ("b", "c"): 3}
    assert train_bpe(words, 1) == [("a", "a")]
    assert train_bpe({("a",) * 5: 2}, 9) == [("a", "a"), ("aa", "aa"), ("aaaa", "a")]
    assert train_bpe({("a",) * 4: 1}, 9) == [("a", "a")]
    # Equal counts: the greatest pair; one that a merge has used up counts no more.
    words = {("a", "b", "c"): 2, ("d", "e"): 2}
    assert train_bpe(words, 9) == [("d", "e"), ("b", "c"), ("a", "bc")]
    # Twice in one word, once in two others each; and no pair across two words.
    words = {("x", "y", "z", "x", "y"): 2, ("m", "n"): 3, ("n", "m"): 3}
    assert train_bpe(words, 1) == [("x", "y")]


class Both:
    def __call__(self, train_bpe):
        by_hand(train_bpe)
        against_my_own(train_bpe)


answers.right["callable_object"] = Both()


@answers.also("lets_everything_pass")
def repeats_itself(train_bpe):
    words = {("a", "b", "a"): 3, ("b", "a"): 2}
    assert train_bpe(words, 3) == train_bpe(words, 3)


@answers.other
def first_of_many(train_bpe):
    assert train_bpe({("l", "o", "w"): 5, ("l", "o"): 2}, 3)[0] == ("l", "o")


@answers.other
def counts_them(train_bpe):
    assert len(train_bpe({tuple("abcabc"): 2, tuple("cab"): 3}, 4)) == 4


@answers.other
def looks_for_a_word(train_bpe):
    merges = train_bpe({tuple("lower"): 2, tuple("low"): 5, tuple("new"): 6}, 3)
    assert ("n", "e") in merges or ("e", "w") in merges
