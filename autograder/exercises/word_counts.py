"""Cases and misconceptions of ``word_counts``."""

import itertools
import re
import string
import unicodedata
from collections import Counter

from autograder import Exercise
from course_lib.bpe import spell, word_counts

exercise = Exercise(
    word_counts,
    lesson="06_byte_pair_encoding",
    minutes=5,
    difficulty=1,
)

MARK = "</w>"


@exercise.spec
def spec(text):
    counts = {}
    for word in text.split():
        symbols = (*word[:-1], word[-1] + MARK)
        counts[symbols] = counts.get(symbols, 0) + 1
    return counts


@exercise.usual
def usual(rng):
    return ("a Cat mat cat mate,\nna-ja  ma\u0308ße mat \ufb01t 😀\u2003cat",)


def drawn_word(rng):
    """Draw a word of five to eleven letters."""
    return "".join(rng.choice(list("aehmorst"), rng.integers(5, 12)))


@exercise.case("Three words, two of them equal, give two counts")
def small_example_by_hand(student, rng):
    expected = {("e", "a", "t</w>"): 2, ("t", "o</w>"): 1}
    counts = student("eat to eat")
    student.expect(counts, expected)
    twice, once = drawn_word(rng), drawn_word(rng)
    student.agrees(f"{twice} {once} {twice}")


@exercise.case(
    "Each word counts as often as it occurs, wherever that is in the text",
    weight=0.5,
    pays_alone=False,
)
def toy_corpus(student, rng):
    toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
    words = [word for word, count in toy.items() for _ in range(count)]
    text = " ".join(rng.permutation(words).tolist())
    counts = student(text)
    student.expect(counts, {(*w[:-1], w[-1] + "</w>"): n for w, n in toy.items()})


@exercise.case(
    "A word of one letter is one symbol, and not a part of longer words", weight=0.5
)
def one_letter(student, rng):
    expected = {("a</w>",): 2, ("a", "a", "a</w>"): 1, ("a", "a</w>"): 3}
    student.expect(student("a aaa aa a aa aa"), expected)
    student.agrees(" ".join("a" * length for length in rng.integers(1, 6, size=12)))


@exercise.case(
    "Any white space parts words: several blanks, tabs, new lines", weight=0.5
)
def any_white_space(student, rng):
    expected = {("a", "t</w>"): 4, ("t", "o</w>"): 3}
    student.expect(student("  at to\tat\n\nto   at\r\n\u00a0to at \n"), expected)
    one, other = drawn_word(rng), drawn_word(rng)
    student.agrees(f" {one}\n\n{other}\t{one}  {other}\r\n{one}")


@exercise.case("Capitals and punctuation are kept", weight=0.5)
def capitals_and_punctuation(student, rng):
    expected = {
        ("I", "t</w>"): 1,
        ("i", "t</w>"): 2,
        ("i", "t", "!</w>"): 1,
        ("i", "t", "'", "s</w>"): 1,
        ("n", "a", "-", "j", "a</w>"): 1,
        ("?</w>",): 1,
    }
    student.expect(student("It it it! it's ? na-ja it"), expected)


@exercise.case("Accents, ß, ligatures and emoji are kept", weight=0.5)
def other_letters(student, rng):
    expected = {
        ("ä", "ß</w>"): 2,
        ("a", "ß</w>"): 1,
        ("a", "\u0308</w>"): 1,
        ("a", "s", "s</w>"): 1,
        ("\ufb01", "t</w>"): 1,
        ("f", "i", "t</w>"): 2,
        ("😀", "😀</w>"): 1,
    }
    student.expect(student("äß fit aß a\u0308 ass \ufb01t äß 😀😀 fit"), expected)


@exercise.case("A text without words gives an empty dictionary", weight=0.5)
def no_words(student, rng):
    student.expect(student(""), {})
    student.expect(student(" \n "), {})


@exercise.case("A longer text of all kinds of words is counted", weight=3.5)
def longer_text(student, rng):
    words = ["At", "at", "a", "e\u0301", "é", "na-ja", "it's,", "\ufb01ß", "🚲", "o."]
    gaps = ["\n", "\t", "  ", "\u2003"]
    drawn = rng.permutation([*words, *rng.choice(words, 10)]), rng.permutation(gaps * 5)
    student.agrees("\n" + "".join(map("".join, zip(*drawn, strict=True))) + "at")


@exercise.case("Signs like those of the mark are counted", weight=0.5, visible=False)
def signs_of_the_mark(student, rng):
    words = ["Änderung", "änderung", "x", "</w>", "w>", "a</w>"]
    student.agrees(" ".join(rng.choice(words, 30)))


def without_accents(text):
    apart = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


TIDIED = {
    "not": str,
    "lower": str.lower,
    "casefold": str.casefold,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "accents": without_accents,
    "ASCII": lambda text: text.encode("ascii", "ignore").decode(),
    "hyphens": lambda text: text.replace("-", " "),
}
SPLIT = {
    "white space": str.split,
    "blanks": lambda text: text.split(" "),
    "runs of blanks": lambda text: [word for word in text.split(" ") if word],
    "ASCII white space": lambda text: re.findall(r"[^ \t\n\r]+", text),
    "with empty ends": lambda text: re.split(r"\s+", text),
    "runs of letters": lambda text: re.findall(r"\w+", text),
    "punctuation apart": lambda text: re.findall(r"\w+|[^\w\s]+", text),
    "punctuation at the ends": lambda text: [
        bare for word in text.split() if (bare := word.strip(string.punctuation))
    ],
    "letters": lambda text: [*"".join(text.split())],
    "all but the last": lambda text: text.split()[:-1],
    "closed words": lambda text: re.findall(r"(\S+)\s", text),
    "of two letters": lambda text: [word for word in text.split() if len(word) > 1],
}


def runs(words, text):
    return {word: len(list(run)) for word, run in itertools.groupby(words)}


COUNTED = {  # of the words and the text
    "words": lambda words, text: Counter(words),
    "1": lambda words, text: dict.fromkeys(words, 1),
    "in the text": lambda words, text: {word: text.count(word) for word in words},
    "last run": runs,
    "1 too many": lambda words, text: {w: words.count(w) + 1 for w in words},
    "1 too few": lambda words, text: {w: words.count(w) - 1 for w in words},
    "letters": lambda words, text: {w: words.count(w) * len(w) for w in words},
}
WRITTEN = {  # of a word
    "marked": spell,
    "letters": tuple,
    "mark apart": lambda word: (*word, MARK),
    "mark on each": lambda word: tuple(letter + MARK for letter in word),
    "mark in front": lambda word: (MARK + word[:1], *word[1:]),
    "mark before the last": lambda word: (*word[:-1], MARK + word[-1:]),
    "mark for the last": lambda word: (*word[:-1], MARK),
    "last twice": lambda word: (*word, word[-1:] + MARK),
    "mark in letters": lambda word: tuple(word + MARK),
    "one letter unmarked": lambda word: spell(word) if len(word) > 1 else (word,),
    "text with blanks": lambda word: " ".join(spell(word)),
    "text": lambda word: word + MARK,
    "word": str,
    "word in a tuple": lambda word: (word + MARK,),
}
RETURNS = {
    "counts": dict,
    "items": lambda counts: list(counts.items()),
    "ranked": lambda counts: Counter(counts).most_common(),
    "words": list,
    "shares": lambda counts: {k: n / sum(counts.values()) for k, n in counts.items()},
    "None": lambda counts: counts or None,
}


@exercise.variants
def variants(
    text,
    *,
    tidied="not",
    split="white space",
    counted="words",
    written="marked",
    returns="counts",
):
    text = TIDIED[tidied](text)
    counts = COUNTED[counted](SPLIT[split](text), text)
    symbols = {}
    for word, count in counts.items():
        symbols[WRITTEN[written](word)] = count
    return RETURNS[returns](symbols)


exercise.option(
    "each_word_once",
    "Your counts are all 1.",
    "What does a set of words forget about the text?",
    why="BPE is told as working on a list of words; set(text.split()) and "
    "dict.fromkeys make that list, and how often each word occurs is lost.",
    counted="1",
)
exercise.option(
    "parts_of_words_counted",
    "Your counts say how often the word's letters stand anywhere in the text, also "
    "inside longer words.",
    "How often does `text.count` find cat in a text that has the word cats?",
    why="str.count searches for a piece of text and knows nothing of words.",
    counted="in the text",
)
exercise.option(
    "last_run_counted",
    "Your count of a word is that of its last run: how often it stood there directly "
    "one after the other.",
    "What happens to a word's count when the word comes back later in the text?",
    why="itertools.groupby groups neighbours only, unlike GROUP BY of databases; the "
    "words would have to be sorted first.",
    counted="last run",
)
exercise.option(
    "one_too_many",
    "Your counts are larger by 1.",
    "How often has a word occurred before it comes for the first time?",
    why="`counts.get(symbols, 1) + 1`: a count is taken to begin at 1.",
    counted="1 too many",
)
exercise.option(
    "first_one_lost",
    "The first occurrence of each word adds nothing to your counts.",
    "What is the count of a word that has come once?",
    why="`if symbols not in counts: counts[symbols] = 0`, and `else` in front of the "
    "sum.",
    counted="1 too few",
)
exercise.option(
    "letters_counted_too",
    "Your counts are multiplied by the number of letters of the word.",
    "What grows by one for each word: the entry of the word, or of each letter?",
    why="The count is raised inside the loop over a word's letters.",
    counted="letters",
)
exercise.option(
    "lower_cased",
    "Your words are all in small letters.",
    "Would a text that is put together again from these words have its capitals?",
    why="Many introductions to text start with text.lower(), and toy words are in "
    "small letters anyway.",
    tidied="lower",
)
exercise.option(
    "case_folded",
    "Your words are all in small letters, and ß is ss.",
    "Would a text that is put together again from these words be the same?",
    why="`casefold` is the thorough way to compare words whatever their case.",
    tidied="casefold",
)
exercise.option(
    "accents_removed",
    "Your words have lost their accents: what was ä is a.",
    "Could a text with accents be restored from these words?",
    why="The pre-trained uncased BERT tokenizers strip accents, and people expect that "
    "of any tokenizer.",
    tidied="accents",
)
exercise.option(
    "accents_composed",
    "Your words have one sign where the text has a letter and an accent after it.",
    "Does the task say that the text is tidied up before it is split?",
    why="Normalising to NFC is good advice for training data.",
    tidied="NFC",
)
exercise.option(
    "signs_unified",
    "Your words have other signs than the text where Unicode has two ways of writing "
    "the same.",
    "Does the task say that the text is tidied up before it is split?",
    why="SentencePiece applies NFKC by default, so it seems to be a part of BPE.",
    tidied="NFKC",
)
exercise.option(
    "other_letters_lost",
    "Your words have only letters and signs of ASCII.",
    "What became of ä and 😀?",
    why="`encode('ascii', 'ignore')` keeps a program from stopping at an ä.",
    tidied="ASCII",
)
exercise.option(
    "hyphens_part_words",
    "Your words end at hyphens too.",
    "What is a word here: what stands between white space, or a part of it?",
    why="A compound is two words for many dictionaries.",
    tidied="hyphens",
)
exercise.option(
    "punctuation_removed",
    "Your words have lost their punctuation.",
    "What is a word here: what stands between white space, or a run of letters?",
    why="re.findall(r'\\w+', text) is how words are found in most write-ups.",
    split="runs of letters",
)
exercise.option(
    "punctuation_apart",
    "Your punctuation marks are words of their own.",
    "What is a word here, and does white space stand before each comma?",
    why="Tokenizers of whole words part punctuation from words, and so does the "
    "pre-tokenizer Whitespace of Hugging Face tokenizers, whose name hides it.",
    split="punctuation apart",
)
exercise.option(
    "punctuation_at_the_ends_removed",
    "Your words have lost the punctuation at their ends.",
    "What is a word here: what stands between white space, or a part of it?",
    why="`word.strip(string.punctuation)` is the usual way to tidy words up.",
    split="punctuation at the ends",
)
exercise.option(
    "split_at_single_blanks",
    "Your words end at single blanks only: between two blanks there is an empty word, "
    "and a new line is part of a word.",
    "What comes out if two blanks in a row are split at each blank?",
    why='text.split(" ") reads as what one wants: words are parted by blanks.',
    split="blanks",
)
exercise.option(
    "split_at_blanks_only",
    "Your words end at blanks only: tabs and new lines are parts of words.",
    "Which white space is there besides blanks?",
    why='text.split(" ") gives empty words, and `if word` leaves those out.',
    split="runs of blanks",
)
exercise.option(
    "other_white_space_kept",
    "Your words end at blanks, tabs and new lines only: other white space is a part "
    "of words.",
    "Which white space does `str.split` know besides blanks, tabs and new lines?",
    why="A pattern lists the white space that one knows of.",
    split="ASCII white space",
)
exercise.option(
    "empty_words_at_the_ends",
    "Your counts have an empty word where the text has white space at an end.",
    "What stands before white space that begins a text?",
    why="re.split(r'\\s+', text) gives an empty text there; `split` alone does not.",
    split="with empty ends",
)
exercise.option(
    "letters_for_words",
    "Your counts are those of letters, not of words.",
    "What does a loop over a text give: its words, or its letters?",
    why="`for word in text` reads as what one wants.",
    split="letters",
)
exercise.option(
    "last_word_missing",
    "Your counts leave out the last word of the text.",
    "Where does the last word end?",
    why="range(len(words) - 1) is for neighbours, and here are none.",
    split="all but the last",
)
exercise.option(
    "last_word_not_closed",
    "Your counts leave out a last word without white space after it.",
    "What ends the last word of a text?",
    why="A walk along the text closes a word at white space, and not at the end.",
    split="closed words",
)
exercise.option(
    "one_letter_words_left_out",
    "Your counts have no words of one letter.",
    "Is a word of one letter a word?",
    why="A word of one letter has nothing to join, so it seems to be of no use.",
    split="of two letters",
)
exercise.option(
    "mark_missing",
    "Your words have no mark at their end.",
    "How could one tell, from the tokens alone, where a word ends?",
    why="Tokenizers like GPT-2's have no such mark: they keep the blank instead.",
    written="letters",
)
exercise.option(
    "mark_is_a_symbol",
    "Your words have the mark </w> as a symbol of its own after the last letter.",
    "How many symbols does the docstring's example have for the word to?",
    why="So did the program of Sennrich et al. before its version 0.2, and most "
    "write-ups follow the older one (subword-nmt, issues 19 and 85).",
    written="mark apart",
)
exercise.option(
    "mark_on_every_symbol",
    "Your symbols all have the mark </w>.",
    "Which of a word's letters is the one where the word ends?",
    why="The mark is added inside the loop over a word's letters.",
    written="mark on each",
)
exercise.option(
    "mark_before_the_word",
    "Your words have the mark at their first letter.",
    "Which end of a word does </w> mark?",
    why="SentencePiece (▁) and GPT-2 (Ġ) mark where a word begins.",
    written="mark in front",
)
exercise.option(
    "mark_before_the_last_letter",
    "Your words have the mark in front of their last letter.",
    "On which side of the letter is the mark in the docstring's example?",
    why="`MARK + word[-1]` and `word[-1] + MARK` are quickly mixed up.",
    written="mark before the last",
)
exercise.option(
    "mark_for_the_last_letter",
    "Your words have the mark in place of their last letter.",
    "Which letter of a word can be told from your symbols no more?",
    why="`(*word[:-1], '</w>')`: the last letter is taken off, and not put on again.",
    written="mark for the last",
)
exercise.option(
    "last_letter_twice",
    "Your words have their last letter twice: bare, and with the mark.",
    "How many symbols does the docstring's example have for the word to?",
    why="`(*word, word[-1] + '</w>')`: the last letter is not taken off first.",
    written="last twice",
)
exercise.option(
    "mark_in_letters",
    "Your mark is taken apart: <, /, w and > are symbols like letters.",
    "What does `tuple` do to a text to which the mark was added before?",
    why="list(word + '</w>') splits the mark along with the word; a mark of one sign, "
    "such as the _ of d2l.ai, hides that.",
    written="mark in letters",
)
exercise.option(
    "one_letter_words_unmarked",
    "Your words of one letter have no mark.",
    "Which letter of a word with one letter is its last?",
    why="The first letter is handled before the last is asked for: sugarme/tokenizer, "
    "issue 65, lost the mark of one-letter words in this way.",
    written="one letter unmarked",
)
exercise.option(
    "symbols_joined_by_blanks",
    "Your words are texts with blanks between the symbols.",
    "What do the round brackets in the docstring's example stand for?",
    why="The short program printed in Sennrich et al. (2016) keeps words in this way.",
    written="text with blanks",
)
exercise.option(
    "words_as_texts",
    "Your words are texts, with the mark at the end.",
    "What do the round brackets in the docstring's example stand for?",
    why="A text is the usual form of a word.",
    written="text",
)
exercise.option(
    "words_not_spelt",
    "Your words are as the text has them: texts, and without a mark.",
    "How is a word written in the docstring's example?",
    why="`Counter(text.split())` counts words, and nothing else.",
    written="word",
)
exercise.option(
    "whole_word_as_one_symbol",
    "Your words are tuples of one symbol, the whole word.",
    "How many symbols does the docstring's example have for the word to?",
    why="`(word,)` is a tuple too, and `tuple(word)` another one.",
    written="word in a tuple",
)
exercise.option(
    "items_returned",
    "Your result is a list of words with their counts.",
    "Which type does the docstring promise?",
    why="`list(counts.items())` prints the same numbers.",
    returns="items",
)
exercise.option(
    "ranked_items_returned",
    "Your result is a list of words with their counts, the most frequent first.",
    "Which type does the docstring promise?",
    why="`Counter.most_common()` returns such a list.",
    returns="ranked",
)
exercise.option(
    "words_without_counts",
    "Your result is a list of words without their counts.",
    "Could one tell from your result how often a word occurs?",
    why="A list of different words is what a vocabulary is.",
    returns="words",
)
exercise.option(
    "shares_returned",
    "Your numbers are shares: they sum to 1.",
    "How often does the word occur, as an integer?",
    why="Frequencies are often given as shares of the whole.",
    returns="shares",
)
exercise.option(
    "none_without_words",
    "Your result is None where the text has no words.",
    "What does the docstring promise for a text without words?",
    why="`if not words: return` leaves out what to return.",
    returns="None",
)
