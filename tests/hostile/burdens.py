"""Submissions that use up the grader: its time and memory, by what they send it."""

from tests.hostile import hostile
from tests.hostile.attacks import NAME, inside
from tests.hostile.forged import CRASHED, SAYS, saying
from tests.hostile.greedy import ATTENTION, FAMILY, TIMEOUT

USED = "\n\n\ndef attention(q, k, v):\n    {}\n"


def asking(submission, statement):
    """Fail at first; ask the grader once it answers for the functions that are used."""
    learners = "mine = softmax, scaled_scores\n"
    body = f"""\
if (softmax, scaled_scores) == mine:
        raise ValueError("not yet")
    {statement}"""
    submission.answer(ATTENTION, learners + USED.format(body))


@hostile(FAMILY, lost={ATTENTION: "any"})
def asks_the_grader_for_an_array_of_three_gigabytes(submission, world):
    asking(submission, "return scaled_scores(*[np.ones((20_000, 1))] * 2)")


@hostile(FAMILY, lost={ATTENTION: "any"})
def asks_the_grader_for_three_gigabytes_with_a_few_bytes(submission, world):
    # Refused by the size of what is sent: nothing is computed.
    asking(submission, "return scaled_scores(*[np.ones((20_000, 1), np.int8)] * 2)")


# The most rows that may be sent. Their product fits and takes a second on a quiet
# machine, two at most (``CALLBACK_SECONDS``), in each of eight calls; all of them are
# made once more if one has taken the two.
@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def asks_the_grader_for_two_gigabytes_with_a_few_bytes(submission, world):
    asking(submission, "return scaled_scores(*[np.ones((16_000, 1), np.int8)] * 2)")


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def asks_the_grader_without_end(submission, world):
    asking(submission, "while True: softmax(np.ones(1_000_000))")


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def asks_the_grader_for_little_without_end(submission, world):
    asking(submission, "while True: softmax(np.ones(10_000))")


# What asks the grader finds an answer at once, and the grader's own stays unread.
DEAF = """\
import sys
    wire = sys.modules["inside.wire"]
    wire.receive = lambda *_: wire.pack(["answer", "value", None])
    """


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def calls_back_without_reading_the_replies(submission, world):
    asking(submission, DEAF + "while True: softmax(np.ones(10_000))")


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def asks_for_much_without_reading_it(submission, world):
    large = "np.ones((2000, 1))"
    asking(submission, f"{DEAF}while True: scaled_scores({large}, {large})")


@hostile(FAMILY, long=True)
def reports_started_cells_without_end(submission, world):
    submission.own(
        f'{SAYS}import time\nwhile True:\n    say("at", 0)\n    time.sleep(1)'
    )


@hostile(FAMILY, long=True)
def reports_started_cells_as_fast_as_it_can(submission, world):
    submission.own(f'{SAYS}while True:\n    say("at", 10**6)')


@hostile(FAMILY, lost=TIMEOUT, long=True)
def sends_a_frame_byte_by_byte(submission, world):
    deed = """\
import os, time
for letter in b"\\0\\0\\x10\\0\\0\\0\\0\\0" + bytes(4096):
    os.write(3, bytes([letter]))
    time.sleep(0.2)"""
    inside(submission, deed)


@hostile(FAMILY, lost={NAME: "crashed"})
def sends_a_tree_of_four_megabytes_of_lists(submission, world):
    deed = """\
import os
tree = b"\\xdd" + (4_100_000).to_bytes(4, "big") + b"\\x90" * 4_100_000
frame = len(tree).to_bytes(4, "big") + bytes(4) + tree
while frame:
    frame = frame[os.write(3, frame):]
os._exit(0)"""
    inside(submission, deed)


# To look one of these up, Python compares it with all that came before.
KEYS = """
colliding = [["i", format(n * ((1 << 61) - 1), "x")] for n in range(9000)]
"""


def saying_keys(submission, value):
    """Return in each judged call a result that takes long to build.

    value : an expression over ``colliding``, a tree as the wire writes it
    """
    words = f'"outcome", token, "value", {value}, None, None, False, ["l"]'
    saying(submission, f"say_tree({words})")
    cell = submission.cell(NAME)
    cell.source = KEYS + cell.source


@hostile(FAMILY, lost=CRASHED)
def sends_a_set_of_numbers_of_equal_hashes(submission, world):
    saying_keys(submission, '["s", *colliding]')


@hostile(FAMILY, lost=CRASHED)
def sends_a_dictionary_of_tuples_of_equal_hashes(submission, world):
    items = 'part for key in colliding for part in (["t", key, 1], 0)'
    saying_keys(submission, f'["d", *({items})]')


@hostile(FAMILY, lost=CRASHED)
def sends_sets_of_equal_hashes_again_and_again(submission, world):
    sets = "colliding[n:n + 900] for n in range(0, 9000, 900)"
    saying_keys(submission, f'["l", *(["s", *keys] for keys in ({sets}))]')


@hostile(FAMILY)
def reports_outputs_of_cells_with_equal_hashes(submission, world):
    words = '"ran", ["d"], ["d", *(part for key in colliding for part in (key, 0))], 0'
    submission.own(f"{SAYS}{KEYS}say_tree({words})")


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def asks_the_grader_with_keys_of_equal_hashes(submission, world):
    asking(
        submission,
        """\
say_tree("callback", speaker().token, 0, ["t", ["s", *colliding]], ["d"])
    import time
    time.sleep(60)""",
    )
    cell = submission.cell(ATTENTION)
    cell.source = SAYS + KEYS + cell.source


@hostile(FAMILY, lost={ATTENTION: "any"})
def asks_the_grader_for_a_product_that_takes_long(submission, world):
    asking(
        submission,
        "while True: scaled_scores(*[np.ones((10_000, 6), np.int8)] * 2)",
    )


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def returns_long_lists_that_are_compared_with_each_other(submission, world):
    submission.answer(ATTENTION, USED.format("return [0.5] * 25_000"))


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def returns_many_lists_in_lists_that_are_compared(submission, world):
    submission.answer(ATTENTION, USED.format("return [[[[[]]]] for _ in range(4900)]"))


@hostile(FAMILY, lost={ATTENTION: "any"}, long=True)
def returns_many_arrays_that_are_compared(submission, world):
    arrays = "[np.zeros((1, 0))] * 5000"
    submission.answer(ATTENTION, USED.format(f"return {arrays}, 0"))
