"""Cases and misconceptions of ``word_counts``."""

import re
import string
import unicodedata

from autograder import Exercise
from course_lib.bpe import word_counts

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


exercise.edits(
    r"""
each_word_once: counts[symbols] = 1
  Your counts are all 1.
  ? What does a set of words forget about the text?
  # BPE is told as working on a list of words; set(text.split()) and dict.fromkeys
    make that list, and how often each word occurs is lost.
parts_of_words_counted: counts[symbols] = text.count(word)
  Your counts say how often the word's letters stand anywhere in the text, also inside
    longer words.
  ? How often does `text.count` find cat in a text that has the word cats?
  # str.count searches for a piece of text and knows nothing of words.
last_run_counted:
  | for word in text.split(): ->
  :     before = None
  :     for word in text.split():
  | counts[symbols] = … ->
  :     counts[symbols] = counts[symbols] + 1 if word == before else 1
  :     before = word
  Your count of a word is that of its last run: how often it stood there directly one
    after the other.
  ? What happens to a word's count when the word comes back later in the text?
  # itertools.groupby groups neighbours only, unlike GROUP BY of databases; the words
    would have to be sorted first.
one_too_many: counts.get(symbols, 0) -> counts.get(symbols, 1)
  Your counts are larger by 1.
  ? How often has a word occurred before it comes for the first time?
  # `counts.get(symbols, 1) + 1`: a count is taken to begin at 1.
first_one_lost: counts.get(symbols, 0) -> counts.get(symbols, -1)
  The first occurrence of each word adds nothing to your counts.
  ? What is the count of a word that has come once?
  # `if symbols not in counts: counts[symbols] = 0`, and `else` in front of the sum.
letters_counted_too: counts[symbols] = counts.get(symbols, 0) + len(word)
  Your counts are multiplied by the number of letters of the word.
  ? What grows by one for each word: the entry of the word, or of each letter?
  # The count is raised inside the loop over a word's letters.
lower_cased: text.split() -> text.lower().split()
  Your words are all in small letters.
  ? Would a text that is put together again from these words have its capitals?
  # Many introductions to text start with text.lower(), and toy words are in small
    letters anyway.
case_folded: text.split() -> text.casefold().split()
  Your words are all in small letters, and ß is ss.
  ? Would a text that is put together again from these words be the same?
  # `casefold` is the thorough way to compare words whatever their case.
accents_removed:
  | text = "".join(
  :     [
  :         sign
  :         for sign in unicodedata.normalize("NFD", text)
  :         if not unicodedata.combining(sign)
  :     ]
  : )
  Your words have lost their accents: what was ä is a.
  ? Could a text with accents be restored from these words?
  # The pre-trained uncased BERT tokenizers strip accents, and people expect that of
    any tokenizer.
accents_composed: text = unicodedata.normalize('NFC', text)
  Your words have one sign where the text has a letter and an accent after it.
  ? Does the task say that the text is tidied up before it is split?
  # Normalising to NFC is good advice for training data.
signs_unified: text = unicodedata.normalize('NFKC', text)
  Your words have other signs than the text where Unicode has two ways of writing the
    same.
  # SentencePiece applies NFKC by default, so it seems to be a part of BPE.
other_letters_lost: text = text.encode('ascii', 'ignore').decode()
  Your words have only letters and signs of ASCII.
  ? What became of ä and 😀?
  # `encode('ascii', 'ignore')` keeps a program from stopping at an ä.
hyphens_part_words: text.split() -> text.replace('-', ' ').split()
  Your words end at hyphens too.
  ? What is a word here: what stands between white space, or a part of it?
  # A compound is two words for many dictionaries.
punctuation_removed: text.split() -> re.findall(r'\w+', text)
  Your words have lost their punctuation.
  ? What is a word here: what stands between white space, or a run of letters?
  # re.findall(r'\w+', text) is how words are found in most write-ups.
punctuation_apart: text.split() -> re.findall(r'\w+|[^\w\s]+', text)
  Your punctuation marks are words of their own.
  ? What is a word here, and does white space stand before each comma?
  # Tokenizers of whole words part punctuation from words, and so does the
    pre-tokenizer Whitespace of Hugging Face tokenizers, whose name hides it.
punctuation_at_the_ends_removed:
  | for word in text.split(): ->
  :     for word in text.split():
  :         word = word.strip(string.punctuation)
  :         if not word:
  :             continue
  Your words have lost the punctuation at their ends.
  ? What is a word here: what stands between white space, or a part of it?
  # `word.strip(string.punctuation)` is the usual way to tidy words up.
split_at_single_blanks: text.split() -> text.split(' ')
  Your words end at single blanks only: between two blanks there is an empty word, and
    a new line is part of a word.
  ? What comes out if two blanks in a row are split at each blank?
  # text.split(" ") reads as what one wants: words are parted by blanks.
split_at_blanks_only: text.split() -> re.findall('[^ ]+', text)
  Your words end at blanks only: tabs and new lines are parts of words.
  ? Which white space is there besides blanks?
  # text.split(" ") gives empty words, and `if word` leaves those out.
other_white_space_kept: text.split() -> re.findall('[^ \\t\\n\\r]+', text)
  Your words end at blanks, tabs and new lines only: other white space is a part of
    words.
  ? Which white space does `str.split` know besides blanks, tabs and new lines?
  # A pattern lists the white space that one knows of.
empty_words_at_the_ends: text.split() -> re.split(r'\s+', text)
  Your counts have an empty word where the text has white space at an end.
  ? What stands before white space that begins a text?
  # re.split(r'\s+', text) gives an empty text there; `split` alone does not.
letters_for_words: text.split() -> ''.join(text.split())
  Your counts are those of letters, not of words.
  ? What does a loop over a text give: its words, or its letters?
  # `for word in text` reads as what one wants.
last_word_missing: text.split() -> text.split()[:-1]
  Your counts leave out the last word of the text.
  ? Where does the last word end?
  # range(len(words) - 1) is for neighbours, and here are none.
last_word_not_closed: text.split() -> re.findall(r'(\S+)\s', text)
  Your counts leave out a last word without white space after it.
  ? What ends the last word of a text?
  # A walk along the text closes a word at white space, and not at the end.
one_letter_words_left_out:
  | for word in text.split(): ->
  :     for word in text.split():
  :         if len(word) == 1:
  :             continue
  Your counts have no words of one letter.
  ? Is a word of one letter a word?
  # A word of one letter has nothing to join, so it seems to be of no use.
mark_missing: symbols = tuple(word)
  Your words have no mark at their end.
  ? How could one tell, from the tokens alone, where a word ends?
  # Tokenizers like GPT-2's have no such mark: they keep the blank instead.
mark_is_a_symbol: symbols = (*word, END_OF_WORD)
  Your words have the mark </w> as a symbol of its own after the last letter.
  ? How many symbols does the docstring's example have for the word to?
  # So did the program of Sennrich et al. before its version 0.2, and most write-ups
    follow the older one (subword-nmt, issues 19 and 85).
mark_on_every_symbol: symbols = tuple((letter + END_OF_WORD for letter in word))
  Your symbols all have the mark </w>.
  ? Which of a word's letters is the one where the word ends?
  # The mark is added inside the loop over a word's letters.
mark_before_the_word: symbols = (END_OF_WORD + word[0], *word[1:])
  Your words have the mark at their first letter.
  ? Which end of a word does </w> mark?
  # SentencePiece (▁) and GPT-2 (Ġ) mark where a word begins.
mark_before_the_last_letter: symbols = (*word[:-1], END_OF_WORD + word[-1])
  Your words have the mark in front of their last letter.
  ? On which side of the letter is the mark in the docstring's example?
  # `MARK + word[-1]` and `word[-1] + MARK` are quickly mixed up.
mark_for_the_last_letter: symbols = (*word[:-1], END_OF_WORD)
  Your words have the mark in place of their last letter.
  ? Which letter of a word can be told from your symbols no more?
  # `(*word[:-1], '</w>')`: the last letter is taken off, and not put on again.
last_letter_twice: symbols = (*word, word[-1] + END_OF_WORD)
  Your words have their last letter twice: bare, and with the mark.
  ? How many symbols does the docstring's example have for the word to?
  # `(*word, word[-1] + '</w>')`: the last letter is not taken off first.
mark_in_letters: symbols = tuple(word + END_OF_WORD)
  Your mark is taken apart: <, /, w and > are symbols like letters.
  ? What does `tuple` do to a text to which the mark was added before?
  # list(word + '</w>') splits the mark along with the word; a mark of one sign, such
    as the _ of d2l.ai, hides that.
one_letter_words_unmarked: symbols = spell(word) if len(word) > 1 else (word,)
  Your words of one letter have no mark.
  ? Which letter of a word with one letter is its last?
  # The first letter is handled before the last is asked for: sugarme/tokenizer, issue
    65, lost the mark of one-letter words in this way.
symbols_joined_by_blanks: symbols = ' '.join(spell(word))
  Your words are texts with blanks between the symbols.
  ? What do the round brackets in the docstring's example stand for?
  # The short program printed in Sennrich et al. (2016) keeps words in this way.
words_as_texts: symbols = word + END_OF_WORD
  Your words are texts, with the mark at the end.
  # A text is the usual form of a word.
words_not_spelt: symbols = word
  Your words are as the text has them: texts, and without a mark.
  ? How is a word written in the docstring's example?
  # `Counter(text.split())` counts words, and nothing else.
whole_word_as_one_symbol: symbols = (word + END_OF_WORD,)
  Your words are tuples of one symbol, the whole word.
  ? How many symbols does the docstring's example have for the word to?
  # `(word,)` is a tuple too, and `tuple(word)` another one.
items_returned: return list(counts.items())
  Your result is a list of words with their counts.
  ? Which type does the docstring promise?
  # `list(counts.items())` prints the same numbers.
ranked_items_returned: return sorted(counts.items(), key=lambda item: -item[1])
  Your result is a list of words with their counts, the most frequent first.
  # `Counter.most_common()` returns such a list.
words_without_counts: return list(counts)
  Your result is a list of words without their counts.
  ? Could one tell from your result how often a word occurs?
  # A list of different words is what a vocabulary is.
shares_returned:
  | return {symbols: count / sum(counts.values()) for symbols, count in counts.items()}
  Your numbers are shares: they sum to 1.
  ? How often does the word occur, as an integer?
  # Frequencies are often given as shares of the whole.
none_without_words: return counts or None
  Your result is None where the text has no words.
  ? What does the docstring promise for a text without words?
  # `if not words: return` leaves out what to return.
""",
    string=string,
    re=re,
    unicodedata=unicodedata,
)
