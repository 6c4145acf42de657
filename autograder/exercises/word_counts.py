"""Cases and misconceptions of ``word_counts``."""

import itertools
import re
import unicodedata

from autograder import Exercise
from course_lib.bpe import spell, word_counts

exercise = Exercise(
    word_counts,
    lesson="06_byte_pair_encoding",
    minutes=5,
    difficulty=1,
)


@exercise.spec
def spec(text):
    return counted(text.split())


def counted(words, write=spell):
    """Count words, each written as a tuple of symbols."""
    counts = {}
    for word in words:
        symbols = write(word)
        counts[symbols] = counts.get(symbols, 0) + 1
    return counts


@exercise.usual
def usual(rng):
    return ("cat mat cat mate mat cat",)


def drawn_word(rng):
    """Draw a word of five to eleven letters."""
    return "".join(rng.choice(list("aehmorst"), rng.integers(5, 12)))


@exercise.case("Three words, two of them equal, give two counts")
def small_example_by_hand(student, rng):
    expected = {("e", "a", "t</w>"): 2, ("t", "o</w>"): 1}
    student.expect(student("eat to eat"), expected)
    twice, once = drawn_word(rng), drawn_word(rng)
    student.agrees(f"{twice} {once} {twice}")


@exercise.case(
    "Each word counts as often as it occurs, wherever that is in the text",
    pays_alone=False,
)
def toy_corpus(student, rng):
    toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
    words = [word for word, count in toy.items() for _ in range(count)]
    text = " ".join(rng.permutation(words).tolist())
    counts = student(text)
    student.expect(counts, {(*w[:-1], w[-1] + "</w>"): n for w, n in toy.items()})


@exercise.case("A word of one letter is one symbol, and not a part of longer words")
def one_letter(student, rng):
    expected = {("a</w>",): 2, ("a", "a", "a</w>"): 1, ("a", "a</w>"): 3}
    student.expect(student("a aaa aa a aa aa"), expected)
    student.agrees(" ".join("a" * length for length in rng.integers(1, 6, size=12)))


@exercise.case("Any white space parts words: several blanks, tabs, new lines")
def any_white_space(student, rng):
    expected = {("a", "t</w>"): 4, ("t", "o</w>"): 3}
    student.expect(student("  at to\tat\n\nto   at\r\n\u00a0to at \n"), expected)


@exercise.case("Capitals and punctuation stay as they are")
def capitals_and_punctuation(student, rng):
    expected = {
        ("I", "t</w>"): 1,
        ("i", "t</w>"): 2,
        ("i", "t", "!</w>"): 1,
        ("i", "t", "'", "s</w>"): 1,
        ("?</w>",): 1,
    }
    student.expect(student("It it it! it's ? it"), expected)


@exercise.case("Accents, ß, ligatures and emoji stay as they are")
def other_letters(student, rng):
    expected = {
        ("ä", "ß</w>"): 2,
        ("a", "ß</w>"): 1,
        ("a", "s", "s</w>"): 1,
        ("\ufb01", "t</w>"): 1,
        ("f", "i", "t</w>"): 2,
        ("😀", "😀</w>"): 1,
    }
    student.expect(student("äß fit aß ass \ufb01t äß 😀😀 fit"), expected)


@exercise.case("A text without words gives an empty dictionary")
def no_words(student, rng):
    student.expect(student(""), {})
    student.expect(student(" \n "), {})


@exercise.case("A longer text of all kinds of words is counted", visible=False)
def longer_text(student, rng):
    words = ["Änderung", "änderung", "e\u0301", "é", "x", "</w>", "w>", "na-ja", "🚲"]
    gaps = [" ", "\n", "\t", "  ", "\u2003"]
    drawn = rng.choice(words, size=60), rng.choice(gaps, size=60)
    student.agrees("".join(w + gap for w, gap in zip(*drawn, strict=True)))


@exercise.misconception(
    "Your counts are all 1.",
    "What does a set of words forget about the text?",
    why="BPE is told as working on a list of words; set(text.split()) and "
    "dict.fromkeys make that list, and how often each word occurs is lost.",
)
def each_word_once(text):
    return dict.fromkeys(counted(text.split()), 1)


@exercise.misconception(
    "Your counts say how often the word's letters stand anywhere in the text, also "
    "inside longer words.",
    "How often does `text.count` find cat in a text that has the word cats?",
    why="str.count looks for a piece of text and knows nothing of words.",
)
def parts_of_words_counted(text):
    return {spell(word): text.count(word) for word in text.split()}


@exercise.misconception(
    "Your count of a word is that of its last run: how often it stood there directly "
    "one after the other.",
    "What happens to a word's count when the word comes back later in the text?",
    why="itertools.groupby groups neighbours only, unlike GROUP BY of databases; the "
    "words would have to be sorted first.",
)
def last_run_counted(text):
    runs = itertools.groupby(text.split())
    return {spell(word): len(list(run)) for word, run in runs}


@exercise.misconception(
    "Your words are all in small letters.",
    "Would a text that is put together again from these words have its capitals?",
    why="Many introductions to text start with text.lower(), and toy words are in "
    "small letters anyway.",
)
def lower_cased(text):
    return counted(text.lower().split())


@exercise.misconception(
    "Your words have lost their punctuation.",
    "What is a word here: what stands between white space, or a run of letters?",
    why=r"re.findall(r'\w+', text) is how words are found in most write-ups.",
)
def punctuation_removed(text):
    return counted(re.findall(r"\w+", text))


@exercise.misconception(
    "Your punctuation marks are words of their own.",
    "What is a word here, and does white space stand before each comma?",
    why="Tokenizers of whole words part punctuation from words, and so does the "
    "pre-tokenizer Whitespace of Hugging Face tokenizers, whose name hides it.",
)
def punctuation_apart(text):
    return counted(re.findall(r"\w+|[^\w\s]+", text))


@exercise.misconception(
    "Your words have lost their accents: what was ä is a.",
    "Could a text with accents be restored from these words?",
    why="The pre-trained uncased BERT tokenizers strip accents, and people expect "
    "that of any tokenizer.",
)
def accents_removed(text):
    apart = unicodedata.normalize("NFD", text)
    bare = (sign for sign in apart if not unicodedata.combining(sign))
    return counted("".join(bare).split())


@exercise.misconception(
    "Your words have other signs than the text where Unicode has two ways of writing "
    "the same.",
    "Does the task say that the text is tidied up before it is split?",
    why="SentencePiece applies NFKC by default, so it looks like a part of BPE.",
)
def signs_unified(text):
    return counted(unicodedata.normalize("NFKC", text).split())


@exercise.misconception(
    "Your words end at single blanks only: between two blanks there is an empty word, "
    "and a new line is part of a word.",
    "What comes out if two blanks in a row are split at each blank?",
    why='text.split(" ") reads as what one wants: words are parted by blanks.',
)
def split_at_single_blanks(text):
    return counted(text.split(" "))


@exercise.misconception(
    "Your words have no mark at their end.",
    "How could one tell, from the tokens alone, where a word ends?",
    why="Tokenizers like GPT-2's have no such mark: they keep the blank instead.",
)
def mark_missing(text):
    return counted(text.split(), tuple)


@exercise.misconception(
    "Your words have the mark </w> as a symbol of its own after the last letter.",
    "How many symbols does the docstring's example have for the word to?",
    why="So did the program of Sennrich et al. before its version 0.2, and most "
    "write-ups follow the older one (subword-nmt, issues 19 and 85).",
)
def mark_is_a_symbol(text):
    return counted(text.split(), lambda word: (*word, "</w>"))


@exercise.misconception(
    "Your symbols all have the mark </w>.",
    "Which of a word's letters is the one where the word ends?",
    why="The mark is added inside the loop over a word's letters.",
)
def mark_on_every_symbol(text):
    def write(word):
        return tuple(letter + "</w>" for letter in word)

    return counted(text.split(), write)


@exercise.misconception(
    "Your words have the mark at their first letter.",
    "Which end of a word does </w> mark?",
    why="SentencePiece (▁) and GPT-2 (Ġ) mark where a word begins.",
)
def mark_before_the_word(text):
    return counted(text.split(), lambda word: ("</w>" + word[0], *word[1:]))


@exercise.misconception(
    "Your mark is taken apart: <, /, w and > are symbols like letters.",
    "What does `tuple` do to a text to which the mark was added before?",
    why="list(word + '</w>') splits the mark along with the word; a mark of one sign, "
    "such as the _ of d2l.ai, hides that.",
)
def mark_in_letters(text):
    return counted(text.split(), lambda word: tuple(word + "</w>"))


@exercise.misconception(
    "Your words of one letter have no mark.",
    "Which letter of a word with one letter is its last?",
    why="The first letter is handled before the last is asked for: sugarme/tokenizer, "
    "issue 65, lost the mark of one-letter words in this way.",
)
def one_letter_words_unmarked(text):
    def write(word):
        return spell(word) if len(word) > 1 else (word,)

    return counted(text.split(), write)


@exercise.misconception(
    "Your words are texts with blanks between the symbols.",
    "What do the round brackets in the docstring's example stand for?",
    why="The short program printed in Sennrich et al. (2016) keeps words in this way.",
)
def symbols_joined_by_blanks(text):
    return counted(text.split(), lambda word: " ".join(spell(word)))
