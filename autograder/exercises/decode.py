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


exercise.edits(
    r"""
mark_kept: text += token
  Your text still holds the marks </w>.
  ? What does the mark stand for in the text?
  # `''.join(tokens)` is what one writes first.
words_run_together:
  | space + token.removesuffix(END_OF_WORD) -> token.removesuffix(END_OF_WORD)
  Your text has no space where a mark stood.
  ? How should a reader see where a word ends?
  # The decoder of Hugging Face's tokenizers gave Welcometothe… where marks were
    missing (huggingface/tokenizers issue 1793).
space_between_all_tokens: ' ' * token.endswith(END_OF_WORD) -> ' '
  Your text has a space between any two tokens, also inside a word.
  ? Which tokens end a word, and which go on in the next token?
  # `' '.join(…)` is how one prints tokens.
two_spaces: ' ' * token.endswith(END_OF_WORD) -> '  ' * token.endswith(END_OF_WORD)
  Your text has two spaces for each mark.
  ? How many spaces does the docstring's example have between its words?
  # The mark becomes a space, and then the words are joined with spaces.
space_before_the_token:
  | for token in tokens: -> for i, token in enumerate(tokens):
  | text += …
  : space = … ->
  :     space = ' ' * (i > 0 and token.endswith(END_OF_WORD))
  :     text += space + token.removesuffix(END_OF_WORD)
  Your spaces stand before the tokens that have a mark, not after them.
  ? Does the mark say that a word begins, or that it ends?
  # Other tokenizers mark where a word begins: ▁ and Ġ.
mark_replaced_everywhere:
  | text += token
  | return text.replace(END_OF_WORD, ' ').removesuffix(' ')
  Every </w> in your text has become a space, also one inside a token.
  ? Where in a token does the mark stand?
  # `text.replace('</w>', ' ')` after joining, as in CLIP's simple_tokenizer.py.
marks_inside_removed: token.removesuffix(END_OF_WORD) -> token.replace(END_OF_WORD, '')
  Each </w> inside a token is missing from your text.
  ? Which of the marks in a token says that a word ends?
  # `token.replace('</w>', '')` removes all of them.
marks_in_a_row_removed:
  | text += …
  : space = … ->
  :     text += space
  :     space = ''
  :     while token.endswith(END_OF_WORD):
  :         token = token.removesuffix(END_OF_WORD)
  :         space = ' '
  :     text += token
  A token that ends with two </w> has lost both, and one space follows it.
  ? The word `a</w>` is a text too: with which token does it end?
  # `while token.endswith('</w>')`, or a pattern with +, takes off every mark.
marks_in_a_row_become_spaces:
  | text += …
  : space = … ->
  :     text += space
  :     space = ''
  :     while token.endswith(END_OF_WORD):
  :         token = token.removesuffix(END_OF_WORD)
  :         space += ' '
  :     text += token
  A token that ends with two </w> has lost both, and two spaces follow it.
  # A loop takes off one mark after another, and adds a space for each.
mark_before_a_line_break:
  | token.removesuffix(END_OF_WORD) -> re.sub('</w>$', '', token)
  | token.endswith(END_OF_WORD) -> bool(re.search('</w>$', token))
  A token with </w> before its last line break has lost the mark, and a space follows
    the token.
  ? With which character does `'a</w>\n'` end?
  # `$` in a pattern fits before a last line break too; `\Z` does not.
space_before_a_line_break:
  | text += …
  : space = … -> text += re.sub('</w>$', ' ', token)
  | return text.removesuffix(' ')
  In a token with </w> before its last line break the mark has become a space.
  # `re.sub('</w>$', ' ', token)`: `$` fits before a last line break too.
mark_anywhere_ends_a_word:
  | token.removesuffix(END_OF_WORD) -> token.replace(END_OF_WORD, '')
  | token.endswith(END_OF_WORD) -> (END_OF_WORD in token)
  A token with </w> anywhere in it has lost it and ends a word in your text.
  ? Where in a token does the mark stand?
  # `if '</w>' in token` is right for tokens that training made.
mark_anywhere_cuts_four:
  | token.removesuffix(END_OF_WORD) -> (token[:-4] if END_OF_WORD in token else token)
  | token.endswith(END_OF_WORD) -> (END_OF_WORD in token)
  A token with </w> anywhere in it has lost its last four characters in your text.
  # `if '</w>' in token: token[:-4]` is right for tokens that training made.
four_characters_cut:
  | token.removesuffix(END_OF_WORD) -> token[:-4]
  | ' ' * token.endswith(END_OF_WORD) -> ' '
  Each token has lost its last four characters in your text, mark or no mark.
  ? Does every token end with a mark?
  # `token[:-4]` takes a mark off without asking whether there is one.
mark_read_at_the_start:
  | removesuffix -> removeprefix
  | endswith -> startswith
  Your words end at tokens that begin with </w>; at their end the mark stays.
  ? At which end of a token does the mark stand?
  # `startswith` and `removeprefix`, as tokenizers with ▁ need.
only_marks_alone:
  | token.removesuffix(END_OF_WORD) -> ('' if token == END_OF_WORD else token)
  | token.endswith(END_OF_WORD) -> (token == END_OF_WORD)
  Your text has a space only where a token is the mark alone.
  ? Which tokens does `spell` give: is the mark one of its own?
  # In the paper, and in many write-ups, the mark is a symbol of its own.
marks_alone_left_out:
  | token.endswith(END_OF_WORD) ->
  :     (token != END_OF_WORD and token.endswith(END_OF_WORD))
  Your text has no space for a token that is a mark alone.
  ? What does the docstring say of tokens that no training made?
  # `if token` after the mark was removed leaves out what is empty.
characters_of_the_mark_stripped: removesuffix -> rstrip
  Letters w, signs < / and > are missing at the ends of your words.
  ? What does `rstrip` take its argument for: a text, or a set of characters?
  # `token.rstrip('</w>')` removes any of these characters, as often as they come (the
    same in foundation-model-stack/fms-hf-tuning pull request 125).
space_at_the_end: return text + space
  Your text has one space too many at its end.
  ? Between which words does a space stand, and what follows the last one?
  # Each mark becomes a space; Hugging Face's tokenizer of GPT-1 strips the last one
    afterwards.
last_mark_kept:
  | for token in tokens: -> for i, token in enumerate(tokens):
  | token.removesuffix(END_OF_WORD) ->
  :     (token.removesuffix(END_OF_WORD) if i < len(tokens) - 1 else token)
  The last token of your text still has its mark.
  ? What should become of the mark of the last word?
  # The last token is treated apart, and its mark is forgotten.
last_four_characters_cut:
  | for token in tokens: -> for i, token in enumerate(tokens):
  | token.removesuffix(END_OF_WORD) ->
  :     (token.removesuffix(END_OF_WORD) if i < len(tokens) - 1 else token[:-4])
  The last four characters of your last token are missing, mark or no mark.
  ? Does every list of tokens end with a mark?
  # `[:-4]` takes a mark off without asking whether there is one.
last_character_cut: return text[:-1]
  The last character of your text is missing.
  ? Does every list of tokens leave a space at the end?
  # `text[:-1]` takes off the last space without asking whether there is one.
last_character_cut_after_half_a_word: return (text + space)[:-1]
  Where the tokens end inside a word, the last character of your text is missing.
  # `text[:-1]` takes off the last mark's space, also where there is none.
stripped_at_both_ends: return text.strip()
  White space at both ends of your text is cut off.
  ? Which single space should not be there, and which ones belong to the text?
  # `.strip()` at the end, as in many decoders (graph4ai/graph4nlp issue 551).
stripped_at_the_end: return text.rstrip()
  All white space at the end of your text is cut off.
  # `.rstrip()` takes off as many as there are.
stripped_at_the_start: return text.lstrip()
  White space at the start of your text is cut off.
  ? What does a mark stand for that comes first?
  # `.lstrip()` undoes the space that words with ▁ begin with.
spaces_in_a_row_joined: return re.sub(' +', ' ', text)
  Runs of spaces in your text have become one space.
  ? How many marks stood there, and how many spaces are left?
  # `' '.join(text.split())` tidies up, and loses what the tokens said.
accents_composed: return unicodedata.normalize('NFC', text)
  Letters with an accent have changed: two characters have become one.
  ? Is the text that comes back the one that was split?
  # Normalising text is good advice before training; here it changes the result.
accents_taken_apart: return unicodedata.normalize('NFD', text)
  Letters with an accent have changed: one character has become two.
  # NFD is the first step of taking accents off.
other_letters_lost: return text.encode('ascii', 'ignore').decode()
  Your text has only letters and signs of ASCII.
  # `encode('ascii', 'ignore')` keeps a program from stopping at an ä.
lower_cased: return text.lower()
  Your text is in small letters.
  # Many introductions to text start with text.lower().
at_signs_removed: return text.replace('@@', '')
  The signs @@ are missing from your text.
  ? Which sign do these tokens have, and does it say `word ends` or `word goes on`?
  # subword-nmt writes @@ at tokens that go on and tells to remove `@@ `; that command
    is copied (rsennrich/subword-nmt issues 80 and 93).
number_signs_removed: return text.replace('##', '')
  The signs ## are missing from your text.
  ? Which sign do these tokens have, and what are ## here?
  # WordPiece writes ## at tokens that go on, and its decoder removes them.
underlines_become_spaces: return text.replace('▁', ' ')
  Each ▁ is a space in your text.
  ? Which sign do these tokens have, and what is ▁ here?
  # SentencePiece writes ▁ for a space, and its decoder puts the space back.
tokens_backwards: for token in tokens: -> for token in tokens[::-1]:
  Your tokens stand in the opposite order in the text.
  ? Which token does the text begin with?
  # `text = part + text`, or tokens that `pop()` takes from the end.
empty_list_raises:
  | return (text + space)[:-1] if tokens[-1].endswith(END_OF_WORD) else text
  Your call raises an error where there are no tokens.
  ? What is `tokens[-1]` of an empty list?
  # The last token is treated apart, and no token is forgotten.
none_without_tokens:
  | if not tokens:
  :     return None
  Your result is None where there are no tokens.
  ? Which text has no tokens?
  # `if not tokens: return` leaves out what to return.
list_of_words: return text.split(' ')
  Your result is a list of words.
  ? Which type does the docstring promise?
  # Words are what was encoded, one by one.
list_of_parts:
  | text = []
  | text += … ->
  :     if text:
  :         text[-1] += space
  :     text.append(token.removesuffix(END_OF_WORD))
  Your result is a list with a text for each token.
  # The parts are collected, and `''.join` is forgotten.
last_token_changed:
  | if tokens:
  :     tokens[-1] = tokens[-1].removesuffix(END_OF_WORD)
  Your call takes the last mark off in the caller's list of tokens.
  ? Whose list is it in which you take the last mark off?
  # `tokens[-1] = …` before joining changes what the caller holds.
tokens_used_up:
  | for token in tokens: ->
  :     while tokens:
  :         token = tokens.pop(0)
  Your call leaves the caller's list of tokens empty.
  ? Whose list do you take the tokens from?
  # `tokens.pop(0)` is a handy way to take one token after the other.
""",
    unicodedata=unicodedata,
    re=re,
)
