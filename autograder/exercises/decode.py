"""Cases and misconceptions of ``decode``."""

import re
import unicodedata

from autograder import Exercise
from course_lib.bpe import decode

exercise = Exercise(
    decode,
    lesson="06_byte_pair_encoding",
    minutes=8,
    difficulty=1,
    library=("tokenizers.Tokenizer",),
)

MARK = "</w>"


@exercise.spec
def spec(tokens):
    text = ""
    for position in range(len(tokens)):
        token = tokens[position]
        if token[-4:] == "</w>":
            text += token[:-4]
            if position < len(tokens) - 1:
                text += " "
        else:
            text += token
    return text


@exercise.usual
def usual(rng):
    return (["ze", "bra</w>", "w</w>", "</w>", "e\u0301</w>", "a</w>b</w>"],)


@exercise.case("The tokens m, at</w> and eats</w> give `mat eats`")
def two_words(student, rng):
    student.expect(student(["m", "at</w>", "eats</w>"]), "mat eats")


@exercise.case("Any words come back from their pieces")
def any_words(student, rng):
    words = ["Größe", "w</w", "ß", "naïve", "new/", "👩‍👩‍👧", "猫", "e\u0301", "<"]
    words = rng.permutation(words).tolist()
    tokens = []
    for word in words:
        cut = int(rng.integers(len(word)))
        tokens += [word[:cut], word[cut:] + MARK] if cut else [word + MARK]
    student.expect(student(tokens), " ".join(words))


@exercise.case("A text may end inside a word: then the last token has no mark")
def unfinished_word(student, rng):
    student.expect(student(["the</w>", "zebr"]), "the zebr")
    *words, last = rng.choice(["the", "a", "zebr", "mat"], 9).tolist()
    student.agrees([*(word + MARK for word in words), last])


@exercise.case("Letters like those of the mark stay: < / w > at a word's end")
def letters_of_the_mark(student, rng):
    student.expect(student(["now</w>", "w/</w>", "a>", "</w>"]), "now w/ a>")


@exercise.case("Only at a token's end is the mark a space")
def mark_inside(student, rng):
    student.expect(student(["</w>x", "a</w>b</w>", "c</w>"]), "</w>xa</w>b c")


@exercise.case("Signs of other conventions are text like others: @@, ##, ▁, Ġ")
def other_conventions(student, rng):
    student.expect(student(["me@@", "##at</w>", "▁is</w>"]), "me@@##at ▁is")


@exercise.case("A token that is a mark alone is a space too, also twice in a row")
def marks_alone(student, rng):
    tokens = ["</w>", "at", "</w>", "</w>", "e</w>", "</w>", "</w>"]
    student.expect(student(tokens), " at  e  ")


@exercise.case("Accents stay as they were written, in one character or in two")
def accents(student, rng):
    text = student(["e\u0301</w>", "é</w>"])
    student.expect(len(text), 4, "the number of characters")
    student.expect(text, "e\u0301 é")
    student.agrees(rng.choice(["e\u0301</w>", "é</w>"], 12).tolist())


@exercise.case("No tokens give the empty text")
def no_tokens(student, rng):
    student.expect(student([]), "")
    student.expect(student(["</w>"]), "")


@exercise.case("The list of tokens stays as it is")
def tokens_stay(student, rng):
    student.leaves_unchanged(["Ta", "ges</w>"])


@exercise.case("Tokens in any order give their text", visible=False)
def any_tokens(student, rng):
    tokens = ["A", "b</w>", "</w>", "ü@@", "</w>C", "w</w>", "e\u0301"]
    for count in (11, 6):
        student.agrees(rng.choice(tokens, count).tolist())


@exercise.misconception(
    "Your text still holds the marks </w>.",
    "What does the mark stand for in the text?",
    why="`''.join(tokens)` is what one writes first.",
)
def mark_kept(tokens):
    return "".join(tokens)


@exercise.misconception(
    "Your text has no spaces: the marks are gone without a trace.",
    "How should a reader see where a word ends?",
    why="The decoder of Hugging Face's tokenizers gave Welcometothe… where marks were "
    "missing (huggingface/tokenizers issue 1793).",
)
def words_run_together(tokens):
    return "".join(token.removesuffix(MARK) for token in tokens)


@exercise.misconception(
    "Your text has a space between any two tokens, also inside a word.",
    "Which tokens end a word, and which go on in the next token?",
    why="`' '.join(…)` is how one prints tokens.",
)
def space_between_all_tokens(tokens):
    return " ".join(token.removesuffix(MARK) for token in tokens)


@exercise.misconception(
    "Your code undoes the @@ of another convention; the marks </w> are still there.",
    "Which sign do these tokens have, and does it say `word ends` or `word goes on`?",
    why="subword-nmt writes @@ at tokens that go on and tells to remove `@@ `; "
    "that command is copied (rsennrich/subword-nmt issues 80 and 93).",
)
def at_signs_removed(tokens):
    return " ".join(tokens).replace("@@ ", "")


@exercise.misconception(
    "Every </w> in your text has become a space, also one inside a token.",
    "Where in a token does the mark stand?",
    why="`text.replace('</w>', ' ')` after joining, as in CLIP's simple_tokenizer.py.",
)
def mark_replaced_everywhere(tokens):
    return "".join(tokens).replace(MARK, " ").removesuffix(" ")


@exercise.misconception(
    "Your text has one space too many at its end.",
    "Between which words does a space stand, and what follows the last one?",
    why="Each mark becomes a space; Hugging Face's tokenizer of GPT-1 strips the last "
    "one afterwards.",
)
def space_at_the_end(tokens):
    return "".join(re.sub("</w>$", " ", token) for token in tokens)


@exercise.misconception(
    "The last token of your text still has its mark.",
    "What should become of the mark of the last word?",
    why="The last token is treated apart, and its mark is forgotten.",
)
def last_mark_kept(tokens):
    words = [re.sub("</w>$", " ", token) for token in tokens[:-1]]
    return "".join([*words, *tokens[-1:]])


@exercise.misconception(
    "White space at both ends of your text is cut off.",
    "Which single space should not be there, and which ones belong to the text?",
    why="`.strip()` at the end, as in many decoders (graph4ai/graph4nlp issue 551).",
)
def stripped_at_both_ends(tokens):
    return spec(tokens).strip()


@exercise.misconception(
    "Runs of spaces in your text have become one space.",
    "How many marks stood there, and how many spaces are left?",
    why="`' '.join(text.split())` tidies up, and loses what the tokens said.",
)
def spaces_in_a_row_joined(tokens):
    return re.sub(" +", " ", spec(tokens))


@exercise.misconception(
    "Letters w, signs < / and > are missing at the ends of your words.",
    "What does `rstrip` take its argument for: a text, or a set of characters?",
    why="`token.rstrip('</w>')` removes any of these characters, as often as they come "
    "(the same in foundation-model-stack/fms-hf-tuning pull request 125).",
)
def characters_of_the_mark_stripped(tokens):
    text = ""
    for token in tokens:
        text += token.rstrip(MARK) + " " * token.endswith(MARK)
    return text.removesuffix(" ")


@exercise.misconception(
    "The last four characters of your text are missing, mark or no mark.",
    "Does every list of tokens end with a mark?",
    why="`[:-4]` takes a mark off without looking whether there is one.",
)
def last_four_characters_cut(tokens):
    text = "".join(re.sub("</w>$", " ", token) for token in tokens[:-1])
    return text + "".join(tokens[-1:])[:-4]


@exercise.misconception(
    "Letters with an accent have changed: two characters have become one.",
    "Is the text that comes back the one that was split?",
    why="Normalising text is good advice before training; here it changes the result.",
)
def accents_composed(tokens):
    return unicodedata.normalize("NFC", spec(tokens))


@exercise.misconception(
    "Your code stops where there are no tokens.",
    "What is `tokens[-1]` of an empty list?",
    why="The last token is treated apart, and no token is forgotten.",
)
def empty_list_raises(tokens):
    last = tokens[-1].removesuffix(MARK)
    return "".join(re.sub("</w>$", " ", token) for token in tokens[:-1]) + last


@exercise.misconception(
    "Your text is right, but the caller's list of tokens is changed.",
    "Whose list is it in which you take the last mark off?",
    why="`tokens[-1] = …` before joining changes what the caller holds.",
)
def last_token_changed(tokens):
    if tokens:
        tokens[-1] = tokens[-1].removesuffix(MARK)
    return "".join(re.sub("</w>$", " ", token) for token in tokens)
