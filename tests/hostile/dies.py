"""Submissions whose process ends, or whose exceptions are broken."""

from autograder.demo.sample_class import right_answer
from tests.hostile import hostile
from tests.hostile.attacks import NAME, inside

FAMILY = "dies"
SOFTMAX, SCALED, ATTENTION = "softmax", "scaled_scores", "attention"
JACOBIAN, ADDITIVE = "softmax_jacobian", "additive_scores"
SIMILARITY, STEPS = "similarity_attention", "attention_step_by_step"
CRASHED, ERROR = {NAME: "crashed"}, {NAME: "error"}
EXIT = "import os\nos._exit(0)"


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_in_its_answer(submission, world):
    inside(submission, EXIT)


@hostile(FAMILY, lost={NAME: "crashed"}, fails={NAME: ("zero_next_to_large",)})
def ends_the_process_for_one_hidden_input(submission, world):
    deed = "import os\nif np.max(np.abs(given[0])) > 1e3:\n    os._exit(0)"
    inside(submission, deed)


@hostile(FAMILY)
def ends_the_process_in_the_last_cell(submission, world):
    submission.own(EXIT)


@hostile(FAMILY)
def ends_the_process_in_the_first_cell(submission, world):
    submission.own(EXIT, above="dot-product-attention-2")


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_before_its_answer_is_defined(submission, world):
    submission.answer(NAME, f"{EXIT}\n\n\n{right_answer(NAME)}")


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_after_its_answer_is_defined(submission, world):
    submission.answer(NAME, f"{right_answer(NAME)}\n\n\n{EXIT}")


@hostile(FAMILY, lost={SOFTMAX: "crashed"})
def ends_the_process_where_other_exercises_call_it(submission, world):
    submission.answer(
        SOFTMAX, "import os\n\n\ndef softmax(x, axis=-1):\n    os._exit(0)"
    )


ALL_BUT_TWO = (SOFTMAX, SIMILARITY, JACOBIAN, SCALED, ATTENTION, STEPS)


@hostile(FAMILY, lost=dict.fromkeys(ALL_BUT_TWO, "crashed"))
def ends_the_process_in_six_exercises(submission, world):
    for name in ALL_BUT_TWO:
        deed = f"import os\n\n\ndef {name}(*given, **named):\n    os._exit(0)"
        submission.answer(name, deed)


@hostile(FAMILY)
def ends_the_process_in_nine_own_cells(submission, world):
    for number in range(9):
        submission.own(f"{EXIT}  # {number}", above=SOFTMAX)


@hostile(FAMILY)
def ends_the_process_in_every_way_in_own_cells(submission, world):
    for way in ("os._exit(1)", "os.abort()", "os.kill(os.getpid(), 9)"):
        submission.own(f"import os\n{way}")
    submission.own("import signal\nsignal.raise_signal(signal.SIGSEGV)")
    submission.own("import faulthandler\nfaulthandler._sigsegv()")


SYSTEM_EXITS = ("import sys\nsys.exit()", "import sys\nsys.exit('done')")
SYSTEM_EXITS += ("raise SystemExit(0)", "quit()", "exit()", "%exit", "exit")


@hostile(FAMILY)
def leaves_python_in_own_cells(submission, world):
    for way in SYSTEM_EXITS:
        submission.own(way, above=SOFTMAX)


@hostile(FAMILY, lost=ERROR)
def leaves_python_with_sys_exit(submission, world):
    inside(submission, "import sys\nsys.exit(0)")


@hostile(FAMILY, lost=ERROR)
def leaves_python_with_quit(submission, world):
    inside(submission, "raise SystemExit\nquit()")


@hostile(FAMILY, lost=ERROR)
def leaves_python_before_its_answer_is_defined(submission, world):
    submission.answer(NAME, f"raise SystemExit\n\n\n{right_answer(NAME)}")


@hostile(FAMILY, lost=ERROR)
def stops_before_its_answer_is_defined(submission, world):
    submission.answer(NAME, f"1 / 0\n\n\n{right_answer(NAME)}")


@hostile(FAMILY, lost=ERROR)
def answers_with_a_cell_that_is_not_python(submission, world):
    submission.answer(NAME, right_answer(NAME).replace("->", ">-"))


@hostile(FAMILY, lost=CRASHED)
def aborts_its_process(submission, world):
    inside(submission, "import os\nos.abort()")


@hostile(FAMILY, lost=CRASHED)
def reads_at_address_zero(submission, world):
    inside(submission, "import ctypes\nctypes.string_at(0)")


@hostile(FAMILY, lost=CRASHED)
def overwrites_the_memory_of_its_process(submission, world):
    deed = """\
import ctypes
for kind in (int, float, dict, list, type(None), str, np.ndarray):
    ctypes.memset(id(kind), 255, 200)"""
    inside(submission, deed)


@hostile(FAMILY, lost=CRASHED)
def becomes_another_program(submission, world):
    inside(submission, 'import os\nos.execv("/bin/true", ["true"])')


@hostile(FAMILY)
def becomes_a_program_that_sleeps_in_an_own_cell(submission, world):
    submission.own('import os\nos.execv("/bin/sleep", ["sleep", "1000"])')


@hostile(FAMILY, lost=CRASHED)
def closes_every_file(submission, world):
    inside(submission, "import os\nos.closerange(0, 4096)")


@hostile(FAMILY)
def closes_every_file_in_an_own_cell(submission, world):
    submission.own("import os\nos.closerange(0, 4096)")


@hostile(FAMILY)
def reads_the_graders_messages_in_an_own_cell(submission, world):
    submission.own("import os\nos.read(3, 10**6)")


@hostile(FAMILY, lost={NAME: "any"})
def clears_builtins_and_modules(submission, world):
    deed = """\
import builtins
import sys
sys.modules.clear()
vars(builtins).clear()"""
    inside(submission, deed)


@hostile(FAMILY)
def clears_builtins_and_modules_in_an_own_cell(submission, world):
    submission.own("import builtins\nvars(builtins).clear()")


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_in_a_thread(submission, world):
    deed = """\
import os, threading, time
threading.Thread(target=os._exit, args=(0,)).start()
time.sleep(1000)"""
    inside(submission, deed)


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_when_an_object_is_deleted(submission, world):
    deed = """\
class Last:
    def __del__(self):
        import os
        os._exit(0)
Last()"""
    inside(submission, deed)


RAISES = "{}\n\n\ndef bilinear_scores(*given):\n    raise Broken\n"


def raising(submission, definition):
    """Raise an exception of a class ``Broken`` in each judged call."""
    submission.answer(NAME, RAISES.format(definition))


@hostile(FAMILY, lost=ERROR)
def raises_what_cannot_be_printed(submission, world):
    fails = "return 1 / 0"
    methods = ("__str__", "__repr__", "__format__", "__reduce__", "__hash__")
    body = "".join(f"\n    def {m}(self, *_):\n        {fails}\n" for m in methods)
    raising(submission, f"class Broken(Exception):{body}")


@hostile(FAMILY, lost={NAME: "any"})
def raises_what_ends_the_process_when_printed(submission, world):
    body = "    def __str__(self):\n        import os\n        os._exit(0)"
    raising(submission, f"class Broken(Exception):\n{body}")


@hostile(FAMILY, lost={NAME: "any"})
def raises_what_never_ends_when_printed(submission, world):
    body = "    def __str__(self):\n        while True:\n            pass"
    raising(submission, f"class Broken(Exception):\n{body}")


@hostile(FAMILY, lost=ERROR)
def raises_what_leaves_python_when_printed(submission, world):
    body = "    def __str__(self):\n        raise SystemExit"
    raising(submission, f"class Broken(BaseException):\n{body}")


@hostile(FAMILY, lost=ERROR)
def raises_a_text_of_a_hundred_megabytes(submission, world):
    body = '    def __str__(self):\n        return "long" * (25 << 20)'
    raising(submission, f"class Broken(Exception):\n{body}")


LYING_CLASS = """
class Lies(type):
    def __instancecheck__(cls, other):
        raise SystemExit

    def __subclasscheck__(cls, other):
        raise SystemExit

    def __getattribute__(cls, name):
        if name in ("__name__", "__mro__", "__qualname__", "__module__"):
            raise SystemExit
        return type.__getattribute__(cls, name)


class Broken(Exception, metaclass=Lies):
    __traceback__ = __cause__ = __context__ = 7
"""


@hostile(FAMILY, lost=ERROR)
def raises_an_exception_of_a_class_that_lies(submission, world):
    raising(submission, LYING_CLASS)


@hostile(FAMILY, lost=ERROR)
def raises_a_keyboard_interrupt(submission, world):
    raising(submission, "Broken = KeyboardInterrupt")


@hostile(FAMILY, lost=ERROR)
def raises_a_generator_exit(submission, world):
    raising(submission, "Broken = GeneratorExit")


@hostile(FAMILY, lost={NAME: "memory"})
def raises_a_memory_error_of_its_own(submission, world):
    raising(submission, "Broken = MemoryError")


@hostile(FAMILY)
def raises_odd_exceptions_in_own_cells(submission, world):
    submission.own("raise KeyboardInterrupt")
    submission.own("raise GeneratorExit")
    submission.own("class Odd(BaseException):\n    __str__ = None\n\n\nraise Odd")
    submission.own(f"{LYING_CLASS}\n\nraise Broken")
    submission.own(
        'raise ExceptionGroup("many", [ValueError(n) for n in range(10**5)])'
    )


@hostile(FAMILY)
def raises_when_the_cell_has_ended(submission, world):
    deed = """\
def strike(*_):
    raise SystemExit


get_ipython().events.register("post_run_cell", strike)
get_ipython().events.register("pre_run_cell", strike)"""
    submission.own(deed, above=SOFTMAX)


@hostile(FAMILY, lost=ERROR)
def leaves_python_when_its_answer_is_inspected(submission, world):
    deed = """\
class Answer:
    def __call__(self, *given):
        raise SystemExit

    def __getattr__(self, name):
        raise SystemExit(name)

    def __eq__(self, other):
        raise SystemExit


bilinear_scores = Answer()"""
    submission.answer(NAME, deed)


@hostile(FAMILY, lost=CRASHED)
def ends_the_process_when_its_answer_is_inspected(submission, world):
    deed = """\
import os


class Answer:
    def __call__(self, *given):
        os._exit(0)

    def __getattr__(self, name):
        os._exit(0)


bilinear_scores = Answer()"""
    submission.answer(NAME, deed)


@hostile(FAMILY, lost={NAME: "any"})
def returns_a_result_that_dies_when_sent(submission, world):
    deed = """\
import os


class Deadly:
    @property
    def __class__(self):
        os._exit(0)

    def __array__(self, *_, **__):
        os._exit(0)

    def __getattr__(self, name):
        os._exit(0)


def bilinear_scores(*given):
    return [Deadly(), {"weights": Deadly()}]"""
    submission.answer(NAME, deed)
