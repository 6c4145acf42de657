"""Cases and misconceptions of ``greedy_decode``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.decoding import greedy_decode

exercise = Exercise(
    greedy_decode,
    lesson="09_translation",
    minutes=10,
    difficulty=2,
)


@exercise.spec
def spec(next_logits, start_id, end_id, max_length):
    written = []
    for _ in range(max_length):
        scores = [float(score) for score in next_logits([start_id, *written])]
        best = 0
        for token in range(len(scores)):
            if scores[token] > scores[best]:
                best = token
        if best == end_id:
            return written
        written.append(best)
    return written


# What scores the next token. Each also answers questions that nobody should ask, so
# that a mistake shows in the text and not only in an exception.


def by_the_last_token(tokens):
    rows = [[0, 1, 5, 2], [0, 1, 2, 9], [0, 4, 1, 3], [1, 0, 0, 0]]
    return np.array(rows[tokens[-1] if tokens else 0], dtype=float)


def counts_to_four(tokens):
    return np.eye(7)[min(len(tokens), 5)]


def two_are_equal(tokens):
    rows = [[0, 7, 3, 7, 7], [5, 1, 8, 8, 2], [6, 1, 1, 6, 6]]
    return np.array(rows[min(len(tokens), 3) - 1], dtype=float)


def start_again(tokens):
    """Let the number of start, 1, come again as a token of the text [2, 1, 2, 0]."""
    return np.eye(4)[[2, 1, 2, 0, 3][min(len(tokens), 5) - 1]]


def never_ends(tokens):
    return np.array([0.0, 3.0, 2.0, 1.0])


def at_once(tokens):
    return np.array([0.0, 3.0, 2.0, 9.0 if len(tokens) < 2 else 1.0])


def three_questions(tokens):
    if len(tokens) > 3:
        raise ValueError(f"asked what comes after {tokens}, a text of full length")
    return np.roll([0.0, 1.0, 2.0, 3.0, -1.0], -len(tokens))


def drawn(rng, vocab_size, shift=0.0, never=None):
    """Return scores that depend on every token so far and on its place.

    never : a token that is neither the best nor the worst
    """
    rows = rng.normal(size=(499, vocab_size)) + shift
    if never is not None:
        rows[:, never] = shift

    def scores_after(tokens):
        return rows[hash(tuple(tokens)) % len(rows)]

    return scores_after


@exercise.usual
def usual(rng):
    return drawn(rng, 12, never=5), 0, 5, 6


@exercise.case("From start to 2, from 2 to 1, from 1 to the end: the text is [2, 1]")
def small_example_by_hand(student, rng):
    student.expect(student(by_the_last_token, 0, 3, 9), [2, 1])


@exercise.case("What comes next depends on all tokens so far, start included")
def whole_text_is_asked(student, rng):
    student.expect(student(counts_to_four, 0, 5, 9), [1, 2, 3, 4])
    for _ in range(4):
        student.agrees(drawn(rng, 6), 2, 4, 8)


@exercise.case("A text that ends at once is empty")
def ends_at_once(student, rng):
    student.expect(student(at_once, 0, 3, 5), [])


@exercise.case("A text without an end has max_length tokens")
def without_an_end(student, rng):
    student.expect(student(never_ends, 0, 3, 4), [1, 1, 1, 1])
    student.expect(student(counts_to_four, 0, 5, 1), [1])
    student.expect(student(counts_to_four, 0, 5, 4), [1, 2, 3, 4])


@exercise.case("When the text is max_length long, `next_logits` is not asked again")
def not_asked_again(student, rng):
    student.expect(student(three_questions, 4, 3, 3), [2, 1, 0])


@exercise.case("Of the text only the first start and the end are left out")
def start_may_come_again(student, rng):
    student.expect(student(start_again, 1, 3, 9), [2, 1, 2, 0])


@exercise.case("Of tokens with the same score it is the one with the smallest number")
def equal_scores(student, rng):
    student.expect(student(two_are_equal, 4, 0, 6), [1, 2])


@exercise.case("Scores may all be below 0")
def scores_below_zero(student, rng):
    for _ in range(4):
        student.agrees(drawn(rng, 6, shift=-9.0), 1, 3, 7)


@exercise.case("Start and end may be any two numbers", visible=False)
def any_start_and_end(student, rng):
    start_id, end_id = (int(token) for token in rng.permutation(8)[:2])
    for _ in range(6):
        student.agrees(drawn(rng, 8), start_id, end_id, 10)


def written_by(choose, next_logits, start_id, end_id, max_length, ask=list):
    """Write a text; for mistakes in the choice, or in what is asked.

    choose : gives a token from scores
    ask : gives what `next_logits` is asked with, from the tokens so far
    """
    tokens = [start_id]
    while len(tokens) <= max_length:
        best = int(choose(next_logits(ask(tokens))))
        if best == end_id:
            break
        tokens.append(best)
    return tokens[1:]


@exercise.misconception(
    "Your text has the end token behind it.",
    "Is `end_id` a token of the text, or the sign that it is over?",
    why="The token is appended first and looked at afterwards.",
)
def end_kept(next_logits, start_id, end_id, max_length):
    tokens = []
    while len(tokens) < max_length and (not tokens or tokens[-1] != end_id):
        tokens.append(int(np.argmax(next_logits([start_id, *tokens]))))
    return tokens


@exercise.misconception(
    "Your text begins with the start token.",
    "Which of the tokens in your list has nobody chosen?",
    why="The list that is asked with is given back as it is, as in the Annotated "
    "Transformer's greedy_decode.",
)
def start_kept(next_logits, start_id, end_id, max_length):
    return [start_id, *written_by(np.argmax, next_logits, start_id, end_id, max_length)]


@exercise.misconception(
    "Your text has one token too many where it does not end by itself.",
    "How many tokens are in your list before the first one is chosen?",
    why="PaddlePaddle/models, pull 1023, is about whether start and end are counted.",
)
def one_token_too_many(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, end_id, max_length + 1)


@exercise.misconception(
    "Your text has one token too few where it does not end by itself.",
    "Does max_length count the start token?",
    why="while len(tokens) < max_length is written with start in the list already.",
)
def one_token_too_few(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, end_id, max_length - 1)


@exercise.misconception(
    "Your text runs on behind its end, up to max_length.",
    "What does your loop do when the end token is chosen?",
    why="for _ in range(max_length) without a break: the Annotated Transformer's loop, "
    "and graykode/nlp-tutorial's at first, know no end.",
)
def never_stops(next_logits, start_id, end_id, max_length):
    return written_by(np.argmax, next_logits, start_id, None, max_length)


@exercise.misconception(
    "Your text runs on behind its end, and the end tokens are taken out afterwards.",
    "Whose tokens are those behind the first end?",
    why="Special tokens are filtered when a text is shown: skip_special_tokens=True.",
)
def ends_taken_out(next_logits, start_id, end_id, max_length):
    tokens = written_by(np.argmax, next_logits, start_id, None, max_length)
    return [token for token in tokens if token != end_id]


@exercise.misconception(
    "Your text takes the largest number among equal scores.",
    "Which one does the docstring choose, and which one does your comparison?",
    why=">= in a loop, or the last of a stable sort.",
)
def last_of_equals(next_logits, start_id, end_id, max_length):
    def choose(scores):
        return len(scores) - 1 - np.argmax(scores[::-1])

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your text asks with the newest token alone.",
    "How is the model to know what came before it?",
    why="With a cache or a recurrent network only the newest token is fed; here there "
    "is nothing else that remembers.",
)
def newest_token_alone(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax, next_logits, start_id, end_id, max_length, lambda tokens: tokens[-1:]
    )


@exercise.misconception(
    "Your text asks without the start token.",
    "What is a model asked with before there is any token?",
    why="The list of results, which has no start, is what the loop asks with.",
)
def asked_without_start(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax, next_logits, start_id, end_id, max_length, lambda tokens: tokens[1:]
    )


@exercise.misconception(
    "Your text asks with the start token alone, each time.",
    "What must change between the first question and the second?",
    why="The chosen token goes into the result, and not into what is asked with.",
)
def start_alone(next_logits, start_id, end_id, max_length):
    return written_by(
        np.argmax, next_logits, start_id, end_id, max_length, lambda tokens: tokens[:1]
    )


@exercise.misconception(
    "Your text takes the token with the lowest score.",
    "Is a score a price or a merit?",
    why="Losses and negative logarithms are made small, and argmin comes with them.",
)
def lowest_score(next_logits, start_id, end_id, max_length):
    return written_by(np.argmin, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your text takes token 0 where all scores are below 0.",
    "With which number do you begin to look for the largest one?",
    why="best = 0.0 before the loop is right for probabilities.",
)
def nothing_below_zero(next_logits, start_id, end_id, max_length):
    def choose(scores):
        return np.argmax(scores) if np.max(scores) > 0 else 0

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your text takes the score furthest from 0, whatever its sign.",
    "Which of −9 and 2 is the higher score?",
    why="abs() comes along from where differences are compared.",
)
def furthest_from_zero(next_logits, start_id, end_id, max_length):
    def choose(scores):
        return np.argmax(np.abs(scores))

    return written_by(choose, next_logits, start_id, end_id, max_length)


@exercise.misconception(
    "Your text never is empty: where it should end at once, it goes on.",
    "May the first token that is chosen be the end?",
    why="A least length of 1 is the default of several decoders, fairseq's among them.",
)
def never_empty(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    while len(tokens) <= max_length:
        scores = np.array(next_logits(list(tokens)), dtype=float)
        if len(tokens) == 1:
            scores[end_id] = -np.inf
        if int(np.argmax(scores)) == end_id:
            break
        tokens.append(int(np.argmax(scores)))
    return tokens[1:]


@exercise.misconception(
    "Your text is right, and asks once more after its last token.",
    "When the text is full, does the answer to one more question matter?",
    why="The length is looked at after the scores, in a loop that begins by asking.",
)
def asked_once_more(next_logits, start_id, end_id, max_length):
    tokens = [start_id]
    while True:
        best = int(np.argmax(next_logits(list(tokens))))
        if best == end_id or len(tokens) > max_length:
            return tokens[1:]
        tokens.append(best)


@exercise.misconception(
    "Your text is right, and is an array.",
    "Which type does the docstring promise?",
    why="Tokens are put into arrays for a model, and stay there.",
)
def given_as_an_array(next_logits, start_id, end_id, max_length):
    return np.array(
        written_by(np.argmax, next_logits, start_id, end_id, max_length), dtype=int
    )


@exercise.misconception(
    "Your sequence lacks every token `start_id`, not only the first.",
    "May a model choose `start_id` again, in the middle of a sequence?",
    why="Start and end are taken out by their values, in one line.",
)
def start_removed_by_value(next_logits, start_id, end_id, max_length):
    tokens = written_by(np.argmax, next_logits, start_id, end_id, max_length)
    return [token for token in tokens if token != start_id]
