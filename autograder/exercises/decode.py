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


@exercise.case(
    "A text may end inside a word: then the last token has no mark", weight=0.5
)
def unfinished_word(student, rng):
    student.expect(student(["the</w>", "zebr"]), "the zebr")
    *words, last = rng.choice(["the", "a", "zebr", "mat"], 9).tolist()
    student.agrees([*(word + MARK for word in words), last])


@exercise.case(
    "Letters like those of the mark stay: < / w > at a word's end", weight=0.5
)
def letters_of_the_mark(student, rng):
    student.expect(student(["now</w>", "w/</w>", "a></w>"]), "now w/ a>")


@exercise.fine_point("Only at a token's end is the mark a space, and there one only")
def mark_inside(student, rng):
    student.expect(student(["</w>x", "a</w>b</w>", "c</w>"]), "</w>xa</w>b c")
    student.expect(student(["a</w></w>", "b</w>"]), "a</w> b")
    student.expect(student(["a</w>\n", "b</w>"]), "a</w>\nb")


@exercise.case(
    "Signs of other conventions are text like others: @@, ##, ▁, Ġ", weight=0.5
)
def other_conventions(student, rng):
    student.expect(student(["me@@", "##at</w>", "▁is</w>"]), "me@@##at ▁is")


@exercise.fine_point("A token that is a mark alone is a space too")
def marks_alone(student, rng):
    tokens = ["</w>", "at", "</w>", "</w>", "e</w>", "</w>", "</w>"]
    student.expect(student(tokens), " at  e  ")


@exercise.case("Accents are kept as written, in one character or in two", weight=0.5)
def accents(student, rng):
    text = student(["e\u0301</w>", "é</w>"])
    student.expect(len(text), 4, "the number of characters")
    student.expect(text, "e\u0301 é")
    student.agrees(rng.choice(["e\u0301</w>", "é</w>"], 12).tolist())


@exercise.case("No tokens give the empty text", weight=0.5)
def no_tokens(student, rng):
    student.expect(student([]), "")


@exercise.case("The list of tokens is not modified", weight=0.5)
def tokens_stay(student, rng):
    student.leaves_unchanged(["Ta", "ges</w>"])


@exercise.case("Tokens in any order give their text", weight=4.5)
def any_tokens(student, rng):
    tokens = ["A", "b</w>", "w/</w>", "ü@@", "C", "w</w>", "e\u0301"]
    student.agrees(rng.choice(tokens, 6).tolist())
    student.agrees([*rng.permutation(tokens).tolist(), "A", "D</w>"])


@exercise.case("A longer text is put together", weight=0.5, visible=False)
def longer_text(student, rng):
    tokens = ["a", "bc</w>", "/</w>", "é", "d", "##", "▁"]
    student.agrees(rng.choice(tokens, 40).tolist())


SPLIT = {  # of a token, into its text and whether a space follows
    "at the end": lambda token: (token.removesuffix(MARK), token.endswith(MARK)),
    "not at all": lambda token: (token, False),
    "characters": lambda token: (token.rstrip(MARK), token.endswith(MARK)),
    "removed everywhere": lambda token: (token.replace(MARK, ""), token.endswith(MARK)),
    "each at the end": lambda token: (
        re.sub("(</w>)+\\Z", "", token),
        token.endswith(MARK),
    ),
    "each at the end, a space each": lambda token: (
        re.sub("(</w>)+\\Z", "", token),
        (len(token) - len(re.sub("(</w>)+\\Z", "", token))) // len(MARK),
    ),
    "before a line break": lambda token: (
        re.sub("</w>$", "", token),
        bool(re.search("</w>$", token)),
    ),
    "a space before a line break": lambda token: (
        re.sub("</w>(?=\n\\Z)", " ", token).removesuffix(MARK),
        token.endswith(MARK),
    ),
    "one space, removed": lambda token: (token.replace(MARK, ""), MARK in token),
    "one space, four cut": lambda token: (
        (token[:-4], True) if MARK in token else (token, False)
    ),
    "four cut": lambda token: (token[:-4], True),
    "alone": lambda token: ("", True) if token == MARK else (token, False),
    "not alone": lambda token: (
        (token.removesuffix(MARK), token.endswith(MARK) and token != MARK)
    ),
    "at the start": lambda token: (token.removeprefix(MARK), token.startswith(MARK)),
}
TIDIED = {
    "not": str,
    "strip": str.strip,
    "rstrip": str.rstrip,
    "lstrip": str.lstrip,
    "runs": lambda text: re.sub(" +", " ", text),
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "lower": str.lower,
    "ASCII": lambda text: text.encode("ascii", "ignore").decode(),
    "## removed": lambda text: text.replace("##", ""),
    "@@ removed": lambda text: text.replace("@@", ""),
    "▁ to spaces": lambda text: text.replace("▁", " "),
    "[:-1]": lambda text: text[:-1],
}


@exercise.variants
def variants(
    tokens,
    *,
    mark="at the end",
    space="after the token",
    between="",
    last="no space",
    order=1,
    tidied="not",
    empty="no text",
    returns="text",
    overwritten="nothing",
):
    parts = [SPLIT[mark](token) for token in tokens]
    if empty == "IndexError":
        tokens[-1]
    if last == "untouched" and tokens:
        parts[-1] = (tokens[-1], False)
    elif last == "four cut" and tokens:
        parts[-1] = (tokens[-1][:-4], False)
    elif last == "no space" and tokens:
        parts[-1] = (parts[-1][0], False)
    texts = [text + " " * ends for text, ends in parts]
    if space == "none":
        texts = [text for text, _ in parts]
    elif space == "two":
        texts = [text + "  " * ends for text, ends in parts]
    elif space == "before the token":
        parts = [SPLIT[mark](token) for token in tokens]
        texts = [" " * (ends and i > 0) + text for i, (text, ends) in enumerate(parts)]
    if between:
        texts = [text for text, _ in parts]
    text = TIDIED[tidied](between.join(texts[::order]))
    if last == "space, one character cut":
        text = text[:-1]
    if mark == "in the text":
        text = "".join(tokens).replace(MARK, " ").removesuffix(" ")
    if overwritten == "last token" and tokens:
        tokens[-1] = tokens[-1].removesuffix(MARK)
    elif overwritten == "all tokens":
        tokens.clear()
    if returns == "words":
        return text.split(" ")
    if returns == "parts":
        return texts
    return None if empty == "None" and not parts else text


exercise.option(
    "mark_kept",
    "Your text still holds the marks </w>.",
    "What does the mark stand for in the text?",
    why="`''.join(tokens)` is what one writes first.",
    mark="not at all",
)
exercise.option(
    "words_run_together",
    "Your text has no space where a mark stood.",
    "How should a reader see where a word ends?",
    why="The decoder of Hugging Face's tokenizers gave Welcometothe… where marks were "
    "missing (huggingface/tokenizers issue 1793).",
    space="none",
)
exercise.option(
    "space_between_all_tokens",
    "Your text has a space between any two tokens, also inside a word.",
    "Which tokens end a word, and which go on in the next token?",
    why="`' '.join(…)` is how one prints tokens.",
    between=" ",
)
exercise.option(
    "two_spaces",
    "Your text has two spaces for each mark.",
    "How many spaces does the docstring's example have between its words?",
    why="The mark becomes a space, and then the words are joined with spaces.",
    space="two",
)
exercise.option(
    "space_before_the_token",
    "Your spaces stand before the tokens that have a mark, not after them.",
    "Does the mark say that a word begins, or that it ends?",
    why="Other tokenizers mark where a word begins: ▁ and Ġ.",
    space="before the token",
)
exercise.option(
    "mark_replaced_everywhere",
    "Every </w> in your text has become a space, also one inside a token.",
    "Where in a token does the mark stand?",
    why="`text.replace('</w>', ' ')` after joining, as in CLIP's simple_tokenizer.py.",
    mark="in the text",
)
exercise.option(
    "marks_inside_removed",
    "Each </w> inside a token is missing from your text.",
    "Which of the marks in a token says that a word ends?",
    why="`token.replace('</w>', '')` removes all of them.",
    mark="removed everywhere",
)
exercise.option(
    "marks_in_a_row_removed",
    "A token that ends with two </w> has lost both, and one space follows it.",
    "The word `a</w>` is a text too: with which token does it end?",
    why="`while token.endswith('</w>')`, or a pattern with +, takes off every mark.",
    mark="each at the end",
)
exercise.option(
    "marks_in_a_row_become_spaces",
    "A token that ends with two </w> has lost both, and two spaces follow it.",
    "The word `a</w>` is a text too: with which token does it end?",
    why="A loop takes off one mark after another, and adds a space for each.",
    mark="each at the end, a space each",
)
exercise.option(
    "mark_before_a_line_break",
    "A token with </w> before its last line break has lost the mark, and a space "
    "follows the token.",
    "With which character does `'a</w>\\n'` end?",
    why="`$` in a pattern fits before a last line break too; `\\Z` does not.",
    mark="before a line break",
)
exercise.option(
    "space_before_a_line_break",
    "In a token with </w> before its last line break the mark has become a space.",
    "With which character does `'a</w>\\n'` end?",
    why="`re.sub('</w>$', ' ', token)`: `$` fits before a last line break too.",
    mark="a space before a line break",
)
exercise.option(
    "mark_anywhere_ends_a_word",
    "A token with </w> anywhere in it has lost it and ends a word in your text.",
    "Where in a token does the mark stand?",
    why="`if '</w>' in token` is right for tokens that training made.",
    mark="one space, removed",
)
exercise.option(
    "mark_anywhere_cuts_four",
    "A token with </w> anywhere in it has lost its last four characters in your text.",
    "Where in a token does the mark stand?",
    why="`if '</w>' in token: token[:-4]` is right for tokens that training made.",
    mark="one space, four cut",
)
exercise.option(
    "four_characters_cut",
    "Each token has lost its last four characters in your text, mark or no mark.",
    "Does every token end with a mark?",
    why="`token[:-4]` takes a mark off without asking whether there is one.",
    mark="four cut",
)
exercise.option(
    "mark_read_at_the_start",
    "Your words end at tokens that begin with </w>; at their end the mark stays.",
    "At which end of a token does the mark stand?",
    why="`startswith` and `removeprefix`, as tokenizers with ▁ need.",
    mark="at the start",
)
exercise.option(
    "only_marks_alone",
    "Your text has a space only where a token is the mark alone.",
    "Which tokens does `spell` give: is the mark one of its own?",
    why="In the paper, and in many write-ups, the mark is a symbol of its own.",
    mark="alone",
)
exercise.option(
    "marks_alone_left_out",
    "Your text has no space for a token that is a mark alone.",
    "What does the docstring say of tokens that no training made?",
    why="`if token` after the mark was removed leaves out what is empty.",
    mark="not alone",
)
exercise.option(
    "characters_of_the_mark_stripped",
    "Letters w, signs < / and > are missing at the ends of your words.",
    "What does `rstrip` take its argument for: a text, or a set of characters?",
    why="`token.rstrip('</w>')` removes any of these characters, as often as they come "
    "(the same in foundation-model-stack/fms-hf-tuning pull request 125).",
    mark="characters",
)
exercise.option(
    "space_at_the_end",
    "Your text has one space too many at its end.",
    "Between which words does a space stand, and what follows the last one?",
    why="Each mark becomes a space; Hugging Face's tokenizer of GPT-1 strips the last "
    "one afterwards.",
    last="space",
)
exercise.option(
    "last_mark_kept",
    "The last token of your text still has its mark.",
    "What should become of the mark of the last word?",
    why="The last token is treated apart, and its mark is forgotten.",
    last="untouched",
)
exercise.option(
    "last_four_characters_cut",
    "The last four characters of your last token are missing, mark or no mark.",
    "Does every list of tokens end with a mark?",
    why="`[:-4]` takes a mark off without asking whether there is one.",
    last="four cut",
)
exercise.option(
    "last_character_cut",
    "The last character of your text is missing.",
    "Does every list of tokens leave a space at the end?",
    why="`text[:-1]` takes off the last space without asking whether there is one.",
    tidied="[:-1]",
)
exercise.option(
    "last_character_cut_after_half_a_word",
    "Where the tokens end inside a word, the last character of your text is missing.",
    "Does every list of tokens leave a space at the end?",
    why="`text[:-1]` takes off the last mark's space, also where there is none.",
    last="space, one character cut",
)
exercise.option(
    "stripped_at_both_ends",
    "White space at both ends of your text is cut off.",
    "Which single space should not be there, and which ones belong to the text?",
    why="`.strip()` at the end, as in many decoders (graph4ai/graph4nlp issue 551).",
    tidied="strip",
)
exercise.option(
    "stripped_at_the_end",
    "All white space at the end of your text is cut off.",
    "Which single space should not be there, and which ones belong to the text?",
    why="`.rstrip()` takes off as many as there are.",
    tidied="rstrip",
)
exercise.option(
    "stripped_at_the_start",
    "White space at the start of your text is cut off.",
    "What does a mark stand for that comes first?",
    why="`.lstrip()` undoes the space that words with ▁ begin with.",
    tidied="lstrip",
)
exercise.option(
    "spaces_in_a_row_joined",
    "Runs of spaces in your text have become one space.",
    "How many marks stood there, and how many spaces are left?",
    why="`' '.join(text.split())` tidies up, and loses what the tokens said.",
    tidied="runs",
)
exercise.option(
    "accents_composed",
    "Letters with an accent have changed: two characters have become one.",
    "Is the text that comes back the one that was split?",
    why="Normalising text is good advice before training; here it changes the result.",
    tidied="NFC",
)
exercise.option(
    "accents_taken_apart",
    "Letters with an accent have changed: one character has become two.",
    "Is the text that comes back the one that was split?",
    why="NFD is the first step of taking accents off.",
    tidied="NFD",
)
exercise.option(
    "other_letters_lost",
    "Your text has only letters and signs of ASCII.",
    "Is the text that comes back the one that was split?",
    why="`encode('ascii', 'ignore')` keeps a program from stopping at an ä.",
    tidied="ASCII",
)
exercise.option(
    "lower_cased",
    "Your text is in small letters.",
    "Is the text that comes back the one that was split?",
    why="Many introductions to text start with text.lower().",
    tidied="lower",
)
exercise.option(
    "at_signs_removed",
    "The signs @@ are missing from your text.",
    "Which sign do these tokens have, and does it say `word ends` or `word goes on`?",
    why="subword-nmt writes @@ at tokens that go on and tells to remove `@@ `; that "
    "command is copied (rsennrich/subword-nmt issues 80 and 93).",
    tidied="@@ removed",
)
exercise.option(
    "number_signs_removed",
    "The signs ## are missing from your text.",
    "Which sign do these tokens have, and what are ## here?",
    why="WordPiece writes ## at tokens that go on, and its decoder removes them.",
    tidied="## removed",
)
exercise.option(
    "underlines_become_spaces",
    "Each ▁ is a space in your text.",
    "Which sign do these tokens have, and what is ▁ here?",
    why="SentencePiece writes ▁ for a space, and its decoder puts the space back.",
    tidied="▁ to spaces",
)
exercise.option(
    "tokens_backwards",
    "Your tokens stand in the opposite order in the text.",
    "Which token does the text begin with?",
    why="`text = part + text`, or tokens that `pop()` takes from the end.",
    order=-1,
)
exercise.option(
    "empty_list_raises",
    "Your call raises an error where there are no tokens.",
    "What is `tokens[-1]` of an empty list?",
    why="The last token is treated apart, and no token is forgotten.",
    empty="IndexError",
)
exercise.option(
    "none_without_tokens",
    "Your result is None where there are no tokens.",
    "Which text has no tokens?",
    why="`if not tokens: return` leaves out what to return.",
    empty="None",
)
exercise.option(
    "list_of_words",
    "Your result is a list of words.",
    "Which type does the docstring promise?",
    why="Words are what was encoded, one by one.",
    returns="words",
)
exercise.option(
    "list_of_parts",
    "Your result is a list with a text for each token.",
    "Which type does the docstring promise?",
    why="The parts are collected, and `''.join` is forgotten.",
    returns="parts",
)
exercise.option(
    "last_token_changed",
    "Your call takes the last mark off in the caller's list of tokens.",
    "Whose list is it in which you take the last mark off?",
    why="`tokens[-1] = …` before joining changes what the caller holds.",
    overwritten="last token",
)
exercise.option(
    "tokens_used_up",
    "Your call leaves the caller's list of tokens empty.",
    "Whose list do you take the tokens from?",
    why="`tokens.pop(0)` is a handy way to take one token after the other.",
    overwritten="all tokens",
)
