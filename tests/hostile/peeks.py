"""Submissions that look for what they must not see: secrets, inputs, the grader itself.

What they find, they return in place of the right answer.
"""

import os

from tests.hostile import hostile
from tests.hostile.attacks import NAME, beside
from tests.hostile.world import OTHER
from tests.submissions import LESSON

FAMILY = "peeks"

READ = """
from pathlib import Path


def attack():
    return Path(place).read_text()
"""


@hostile(FAMILY)
def reads_another_students_notebook(submission, world):
    path = world.folder / "submitted" / OTHER / LESSON / f"{LESSON}.ipynb"
    beside(submission, READ, place=str(path))


@hostile(FAMILY)
def reads_the_gradebook(submission, world):
    beside(submission, READ, place=str(world.folder / "gradebook.db"))


@hostile(FAMILY)
def reads_the_seed(submission, world):
    beside(submission, READ, place=str(world.folder / "gradebook.seed"))


@hostile(FAMILY)
def reads_the_solutions(submission, world):
    beside(submission, READ, place=str(world.folder / "solutions" / "answers.txt"))


@hostile(FAMILY)
def reads_its_own_file(submission, world):
    beside(submission, READ, place=str(world.submission))


PATHS_AROUND = """
import os


def attack():
    ways = [os.path.relpath(place), "/proc/1/root" + place, "/proc/self/root" + place]
    ways += ["/proc/self/cwd/../../.." + place, "//" + place, "/tmp/.." + place]
    ways += ["/dev/fd/3/../.." + place, "/newroot" + place, "/oldroot" + place]
    for way in ways:
        try:
            with open(way) as file:
                return file.read()
        except OSError:
            continue
"""


@hostile(FAMILY)
def reads_the_seed_by_other_paths(submission, world):
    beside(submission, PATHS_AROUND, place=str(world.folder / "gradebook.seed"))


LINKED = """
import os


def attack():
    os.symlink(place, "shortcut")
    try:
        with open("shortcut/gradebook.seed") as file:
            return file.read()
    finally:
        os.remove("shortcut")
"""


@hostile(FAMILY)
def reads_the_seed_through_a_link_of_its_own(submission, world):
    beside(submission, LINKED, place=str(world.folder))


WITH_A_SHELL = """
def attack():
    found = !cat {place}/gradebook.seed {place}/solutions/answers.txt 2>/dev/null
    return "".join(found)
"""


@hostile(FAMILY, flagged=(NAME,))
def reads_the_seed_with_a_shell_line(submission, world):
    beside(submission, WITH_A_SHELL, place=str(world.folder))


SEARCHED = """
import os

NAMES = ("gradebook", "submitted", "solutions", "answers.txt", "exercises", ".ipynb")
LARGE = ("/usr", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys")
seen = []
for folder, inner, files in os.walk("/"):
    inner[:] = [
        name
        for name in inner
        if os.path.join(folder, name) not in LARGE
        and name not in ("site-packages", "lib")
    ]
    for name in inner + files:
        if any(part in name for part in NAMES):
            seen.append(os.path.join(folder, name))


def attack():
    return seen
"""


@hostile(FAMILY)
def searches_the_file_system_for_the_course(submission, world):
    beside(submission, SEARCHED)


PROC = """
import glob
import os


def attack():
    found = []
    for place in glob.glob("/proc/[0-9]*") + ["/proc/self", "/proc/1"]:
        for name in ("environ", "cmdline", "maps", "mounts", "status"):
            try:
                with open(f"{place}/{name}", "rb") as file:
                    found.append(file.read(200))
            except OSError:
                continue
    return found
"""


@hostile(FAMILY)
def reads_the_processes_in_proc(submission, world):
    beside(submission, PROC)


PROC_ANEW = """
import ctypes
import os

LIBC = ctypes.CDLL(None)


def attack():
    os.makedirs("mine", exist_ok=True)
    spaces = LIBC.unshare(0x10000000), LIBC.unshare(0x00020000)
    mounted = LIBC.mount(b"proc", b"mine", b"proc", 0, None)
    bound = LIBC.mount(b"/", b"mine", None, 4096, None)
    opened = LIBC.umount2(b"/proc", 2)
    turned = LIBC.syscall(429, -100, b"/proc", -100, b"mine", 0)
    done = [*spaces, mounted, bound, opened, turned]
    return done if 0 in done else None
"""


@hostile(FAMILY, flagged=(NAME,))
def mounts_a_proc_of_its_own(submission, world):
    beside(submission, PROC_ANEW)


ENVIRONMENT = """
import os

ORDINARY = {"HOME", "PATH", "LANG", "PWD", "PYTHONHASHSEED", "IPYTHONDIR"}


def attack():
    return [
        f"{name}={value}"
        for name, value in os.environ.items()
        if name not in ORDINARY and not name.endswith("_THREADS")
        and not name.startswith(("MPL", "KMP", "TORCH", "LC_"))
    ]
"""


@hostile(FAMILY)
def reads_the_environment(submission, world):
    beside(submission, ENVIRONMENT)


COLLECTED = """
import gc

TELLING = {"Case", "Exercise", "Misconception", "Release", "CaseVerdict", "Session"}


def attack():
    gc.unfreeze()
    found = {type(each) for each in gc.get_objects()}
    kinds = [(str(kind.__module__), kind.__name__) for kind in found]
    return [kind for kind in kinds if "autograder" in kind[0] and kind[1] in TELLING]
"""


@hostile(FAMILY, flagged=(NAME,))
def looks_for_the_cases_among_all_objects(submission, world):
    beside(submission, COLLECTED)


FRAMES = """
import sys

TELLING = {"seed", "rng", "expected", "case", "cases", "spec", "student", "verdicts"}


def attack():
    found, frame = [], sys._getframe()
    while frame is not None:
        found += [name for name in frame.f_locals if name in TELLING]
        found += [name for name in frame.f_globals if name in TELLING]
        frame = frame.f_back
    return found
"""


@hostile(FAMILY)
def looks_for_the_expected_values_in_the_callers_frames(submission, world):
    beside(submission, FRAMES)


GRADERS_MODULES = """
import importlib
import pkgutil
import autograder

NAMES = ["exercises", "exercises.bilinear_scores", "checking.registry", "grading"]
NAMES += ["checking.judging", "checking.exercise", "checking.diagnosis", "messages"]
NAMES += ["grading.identity", "checking.matrix", "demo.sample_class"]


def attack():
    found = [module.name for module in pkgutil.iter_modules(autograder.__path__)]
    found = [name for name in found if name in NAMES]
    for name in NAMES:
        try:
            found.append(importlib.import_module("autograder." + name))
        except ImportError:
            continue
    return found
"""


@hostile(FAMILY)
def imports_the_modules_with_the_cases(submission, world):
    beside(submission, GRADERS_MODULES)


INSTALLED_COURSE = """
import sys


def attack():
    kept = [place for place in sys.path if place not in ("", "/course", "/engine")]
    before, sys.path[:] = [*sys.path], [place, *kept]
    hidden = [n for n in sys.modules if n.split(".")[0] in ("autograder", "course_lib")]
    modules = {name: sys.modules.pop(name) for name in hidden}
    try:
        from autograder.checking.registry import load

        return load("bilinear_scores")
    except ImportError:
        return None
    finally:
        sys.path[:] = before
        sys.modules.update(modules)
"""


@hostile(FAMILY)
def imports_the_course_from_where_it_is_installed(submission, world):
    beside(submission, INSTALLED_COURSE, place=__file__.rpartition("/tests/")[0])


INSPECTED = """
import ast
import inspect
import textwrap
from course_lib import attention

GRADED = [attention.attention, attention.scaled_scores, attention.bilinear_scores]
GRADED += [attention.additive_scores, attention.softmax, attention.softmax_jacobian]


def attack():
    texts = [inspect.getsource(getattr(f, "__wrapped__", f)) for f in GRADED]
    nodes = [n for t in texts for n in ast.walk(ast.parse(textwrap.dedent(t)))]
    codes = [getattr(f, "__wrapped__", f).__code__.co_names for f in GRADED]
    found = [ast.unparse(n) for n in nodes if isinstance(n, ast.Return)]
    found = [line for line in found if "(*arguments" not in line]  # the watch's own
    return found + [names for names in codes if "np" in names]
"""


@hostile(FAMILY)
def inspects_the_source_of_the_reference(submission, world):
    beside(submission, INSPECTED)


COMPILED = """
import glob
import marshal
import os
import course_lib


def attack():
    found = []
    for module in ("scores", "attention", "softmax"):
        folder = os.path.dirname(course_lib.__file__)
        for path in glob.glob(f"{folder}/**/{module}*.pyc", recursive=True):
            with open(path, "rb") as file:
                code = marshal.loads(file.read()[16:])
            inner = [c for c in code.co_consts if hasattr(c, "co_names")]
            found += [c.co_name for c in inner if "swapaxes" in c.co_names]
    return found
"""


@hostile(FAMILY)
def looks_for_a_compiled_copy_of_the_reference(submission, world):
    beside(submission, COMPILED)


# A page that is not there makes write() fail and does not end the process.
MEMORY = """
import ctypes
import os
import re

LIBC = ctypes.CDLL(None)
PAGE = 4096
SECRET = re.compile(rb"SECRET-[0-9a-f]{32}")
known = object(), "text" * 9, np, [], {}, b"x" * 99
starts = {id(each) >> 20 << 20 for each in known}
read, write = os.pipe()
found = []
for start in starts:
    for address in range(start - (4 << 20), start + (8 << 20), PAGE):
        place = ctypes.c_void_p(address)
        if LIBC.write(write, place, ctypes.c_size_t(PAGE)) == PAGE:
            found += SECRET.findall(os.read(read, PAGE))
os.close(read)
os.close(write)


def attack():
    return found
"""


@hostile(FAMILY, flagged=(NAME,))
def scans_its_memory_for_another_submission(submission, world):
    beside(submission, MEMORY)


OTHERS_MEMORY = """
import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(64)
piece = (ctypes.c_size_t * 2)(ctypes.addressof(room), 64)
ATTACH, SEIZE = 16, 0x4206


def attack():
    found = []
    for process in [os.getppid(), 0, 1, 2, 3, grader]:
        got = LIBC.process_vm_readv(process, piece, 1, piece, 1, 0)
        found += [("read", process)] if got > 0 else []
        for way in (ATTACH, SEIZE):
            traced = LIBC.ptrace(way, process, None, None)
            found += [("traced", process)] if traced == 0 else []
        for path in (f"/proc/{process}/mem", "/dev/mem", "/dev/kmem"):
            try:
                open(path, "rb").close()
                found.append(path)
            except OSError:
                continue
    return found
"""


@hostile(FAMILY, flagged=(NAME,))
def opens_the_memory_of_other_processes(submission, world):
    beside(submission, OTHERS_MEMORY, grader=os.getpid())


LEFT_BEHIND = """
import os
from pathlib import Path

PLACES = [Path("/"), Path("."), Path("/dev/shm"), *Path("/").iterdir()]
PLACES += Path(np.__file__).parents
earlier = [str(p) for p in PLACES if (p / "left_behind").exists()]
for folder in PLACES:
    try:
        (folder / "left_behind").write_text("by another submission")
    except OSError:
        continue


def attack():
    return earlier
"""


@hostile(FAMILY)
def looks_for_the_files_of_an_earlier_process(submission, world):
    beside(submission, LEFT_BEHIND)
    submission.own("import os\nos._exit(0)", below=NAME)  # so that there is one


# A child's loop for tasks is its own.
OPEN_FILES = """
import os
from IPython.core.async_helpers import get_asyncio_loop


def attack():
    names, loop = {}, get_asyncio_loop()
    parts = loop._selector, loop._ssock, loop._csock
    for number in {*range(4096)} - {part.fileno() for part in parts}:
        try:
            names[number] = os.fstat(number)
        except OSError:
            continue
    null = os.stat("/dev/null").st_rdev
    return [n for n, kept in names.items() if kept.st_rdev != null and n != 3]
"""


@hostile(FAMILY)
def looks_for_files_that_were_left_open(submission, world):
    beside(submission, OPEN_FILES)
