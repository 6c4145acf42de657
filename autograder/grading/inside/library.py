"""Notice that an answer calls a library's function instead of computing by itself.

The functions go on working as they do; what is recorded is that they were called while
an exercise was judged, and from which line:

- functions written in Python announce themselves in their first statement;
- of PyTorch's functions in C the operators are watched, by whatever name they are
  reached;
- processes may not compute for an answer, nor may a watched module be loaded anew.

This prevents silent use, no more: the watch is in the process that it watches.
"""

import __future__

import _thread
import ast
import contextlib
import functools
import importlib
import inspect
import itertools
import linecache
import os
import re
import resource
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

EndProfile = Callable[[], Iterable[str]]  # returns the names of operators

EVERY = ""  # stands for every exercise
CALLED = "autograder.called"
COURSE = "course_lib."
OPERATOR = "aten::"  # before the names of PyTorch's own, not of what a learner compiles
# Under which name a call of them is recorded. It costs an answer a few microseconds for
# each of its operators: no more are listed than names and words leave uncovered.
OPERATORS = {
    "torch.softmax": ("_softmax", "_sparse_softmax", "_masked_softmax"),
    "torch.log_softmax": ("_log_softmax", "_sparse_log_softmax"),
    "torch._safe_softmax": ("_safe_softmax",),
    "torch.sparse.softmax": ("_sparse_softmax",),
    "torch.logsumexp": ("logsumexp",),
    "torch.logcumsumexp": ("logcumsumexp",),
    "torch.nn.functional.scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_native_multi_head_attention",
    ),
    "torch.nn.functional.bilinear": ("bilinear", "_trilinear"),
    "torch.gru_cell": ("gru_cell",),
    "torch.gru": ("gru",),
    "torch.layer_norm": ("layer_norm", "native_layer_norm"),
    "torch.group_norm": ("group_norm", "native_group_norm"),
    "torch.batch_norm": ("batch_norm", "native_batch_norm"),
    "torch.rms_norm": ("rms_norm", "_fused_rms_norm"),
    "torch.nn.functional.cross_entropy": ("cross_entropy_loss",),
    "torch.nn.functional.nll_loss": ("nll_loss_forward", "nll_loss2d_forward"),
    "torch.autograd.grad": ("autograd::engine::evaluate_function", "_make_dual"),
}
PROCESSES = frozenset(
    {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system"}
    | {"pty.spawn", "subprocess.Popen"}
)
PROCESS, PROFILER, LOADER = "another process", "torch.autograd.profiler", "importlib"
# Events and words that reach around the watch, by the name that is recorded.
AROUND = {
    "ctypes.dlopen": "ctypes",
    "ctypes.dlsym": "ctypes",
    "gc.get_objects": "gc.get_objects",
    "gc.get_referrers": "gc.get_referrers",
    "gc.get_referents": "gc.get_referents",
}
WORDS = {
    "torch._C": r"\btorch\._C\b",
    "torch.ops": r"\btorch\.ops\b",
    "__closure__": r"\b__closure__\b",
    "sys.audit": r"\bsys\.audit\b",
    # What these compute in Python by elementary operators shows in their names alone;
    # to watch their functions they would have to be imported, which takes seconds.
    "torch.onnx": r"\btorch\.onnx\b",
    "torch.nn.attention": r"\btorch\.nn\.attention\b|flex_attention|\bCausalBias\b"
    r"|\bcausal_(lower_right|upper_left)\b",
    "subword_nmt": r"\bsubword_nmt\b",
}
# PyTorch's private parts hold most functions once more, written in Python.
PRIVATE = "torch._*"
NAMED_AFTER_TORCH = re.compile(
    r"\bfrom\s+torch[\w.]*\s+import\s*(\([^)]{0,2000}\)|.*)"
    r"|\bimport\b.*\btorch[\w.]*\s+as\s+(\w+)"
    r"|\b(\w+)\s*=\s*torch[\w.]*$",
    re.MULTILINE,
)
HEARD = frozenset({CALLED, "exec", *PROCESSES, *AROUND})
# What is recorded besides the functions that an exercise names.
ALSO_RECORDED = sorted(
    {PROCESS, PROFILER, LOADER, *PROCESSES, *AROUND.values()} | {*WORDS, PRIVATE}
)


class LibraryCalls:
    """The calls of watched functions during one judged call."""

    def __init__(self, functions: Mapping[str, Sequence[str]]) -> None:
        """Start outside any judged call.

        functions : for each exercise the names of those that would answer it
        """
        self.functions = {name: frozenset(each) for name, each in functions.items()}
        self.operators = {
            exercise: {_event(op): n for n in names for op in OPERATORS.get(n, ())}
            for exercise, names in functions.items()
        }
        files = {
            name: getattr(sys.modules[name], "__file__", None)
            for name in [*sys.modules]
        }
        self.files = {*files.values()} - {None}
        # The course's own functions announce themselves however they are loaded.
        watched = {_package(each) for each in _of_libraries(functions)} | {
            _package(__name__)
        }
        watched.discard(_package(COURSE))
        self.watched_files = {
            file for name, file in files.items() if _package(name) in watched
        } - {None}
        self.unwatched: set[str] = set()  # they show in the answer's text alone
        self.exercise = ""
        self.names: Mapping[str, Any] | None = None  # None before the first cell
        self.calls: dict[str, str] = {}
        self.around: dict[str, dict[str, str]] = {EVERY: {}}  # in an exercise's cells
        self.lines: dict[str, list[str]] = {}  # of an exercise's cells
        self.threads = False  # whether there have been any but the main one
        self.cell = EVERY  # the exercise that the cell which runs answers
        self.process_time = 0.0
        self.end_profile: EndProfile = list

    def start(self, names: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        """Listen, before the first cell.

        names : those of the learner's cells
        texts : for each exercise the text of the cells that answer it
        """
        self.names = names
        for exercise, text in texts.items():
            lines = [line.partition("#")[0].strip()[:500] for line in text.splitlines()]
            self.lines[exercise] = lines
            self.around[exercise] = {}
            patterns = WORDS | {PRIVATE: _private_parts(lines)}
            for name, pattern in patterns.items():
                for line in filter(re.compile(pattern).search, lines):
                    self.around[exercise].setdefault(name, line)
            for name in self.unwatched & self.functions.get(exercise, frozenset()):
                package, _, last = name.partition(".")
                pattern = rf"\b({package}|{last})\b"
                for line in filter(re.compile(pattern).search, lines):
                    self.around[exercise].setdefault(name, line)

    def begin(self, exercise: str) -> None:
        """Watch for an exercise."""
        self.exercise = exercise
        self.calls = self.around[EVERY] | self.around.get(exercise, {})
        _end_resource_tracker()
        self.process_time = _process_time()
        if self.operators.get(exercise):
            try:
                self.end_profile = _start_profile(all_threads=self.threads)
            except RuntimeError:  # the answer has started one
                self.calls.setdefault(PROFILER, "")

    def end(self) -> list[tuple[str, str]]:
        """Stop watching; return each function that was called, with the line."""
        if operators := self.operators.get(self.exercise):
            self._add_operators(operators)
        self.exercise = ""
        if not self.calls.keys() & PROCESSES and _process_time() != self.process_time:
            self.calls.setdefault(PROCESS, "")
        return sorted(self.calls.items())

    def is_of_a_library(self, names: Mapping[str, Any]) -> bool:
        """Return whether a function with these globals is none of the learner's."""
        return names is globals() or names.get("__file__") in self.files

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Record what Python reports, as far as it concerns an answer."""
        if event not in HEARD or self.names is None:
            return
        if event == CALLED:
            (name,) = arguments
            of_every = name in self.functions.get(EVERY, ())
            if of_every or name in self.functions.get(self.exercise, ()):
                self.add(name)
        elif event in PROCESSES:
            self.add(event)
        elif event == "exec":
            code = arguments[0]
            if type(code) is CodeType and code.co_filename in self.watched_files:
                self._reach_around(LOADER)
        else:
            self._reach_around(AROUND[event])

    def add(self, function: str) -> None:
        """Record a call, if an answer is being judged, unless its line has one.

        What that one calls in its turn has the same line.
        """
        if self.exercise and function not in self.calls:
            line = self._line()
            if not line or line not in self.calls.values():
                self.calls[function] = line

    def _reach_around(self, name: str) -> None:
        """Record it for the exercise whose answer, or whose cell, is running."""
        self.add(name)
        around = self.around.setdefault(self.exercise or self.cell, {})
        around.setdefault(name, self._line())

    def _line(self) -> str:
        """Return the innermost line of the learner's cells."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals is not self.names:
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None:
            return ""
        return _line_of(frame.f_code.co_filename, frame.f_lineno)

    def _add_operators(self, operators: Mapping[str, str]) -> None:
        """Record the operators that have run, unless a function is known to have."""
        try:
            profile = self.end_profile()
        except RuntimeError:  # the answer has ended it
            self.calls.setdefault(PROFILER, "")
            return
        if self.calls.keys() - self.around[EVERY].keys():
            return
        for name in profile:
            name = name.partition(": ")[0]
            if name in operators:
                self.calls.setdefault(operators[name], self._line_with(name))

    def _line_with(self, operator: str) -> str:
        """Return the answer's line that names an operator; none shows in a profile."""
        name = operator.removeprefix(OPERATOR).strip("_").partition(":")[0]
        for line in self.lines.get(self.exercise, ()):
            if name in line and not line.startswith("def "):
                return line
        return ""


def watch(functions: Mapping[str, Sequence[str]]) -> LibraryCalls:
    """Watch functions, named with dots.

    functions : for each exercise the names of those that would answer it; the course's
        own announce themselves, and need nothing here
    """
    library_calls = LibraryCalls(functions)
    for name in sorted(_of_libraries(functions)):
        if not name.startswith(COURSE) and not _watch(name):
            library_calls.unwatched.add(name)
    _start_profile(all_threads=False)()  # the first one takes longer
    sys.addaudithook(library_calls.hear)
    start = _thread.start_new_thread

    def start_new_thread(*arguments: Any) -> int:
        library_calls.threads = True
        return start(*arguments)

    _thread.start_new_thread = start_new_thread
    threading._start_new_thread = start_new_thread  # type: ignore[attr-defined]
    return library_calls


def announce(definition: ast.AST, name: str) -> None:
    """Make each function in a definition announce a name when it is called."""
    for function in ast.walk(definition):
        if isinstance(function, ast.FunctionDef):
            text = f"__import__('sys').audit({CALLED!r}, {name!r})"
            after = 1 if ast.get_docstring(function, clean=False) else 0
            function.body[after:after] = ast.parse(text).body


def _of_libraries(functions: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the functions that answer some exercise, without those of every one."""
    return {name for each in {*functions} - {EVERY} for name in functions[each]}


def _package(name: str) -> str:
    return name.partition(".")[0]


def _event(operator: str) -> str:
    """Return an operator's name in a profile; a bare one there is a learner's own."""
    return operator if "::" in operator else OPERATOR + operator


def _private_parts(lines: Sequence[str]) -> str:
    """Return a pattern of PyTorch's private names, under whatever name it is there."""
    imports = NAMED_AFTER_TORCH.findall("\n".join(lines))
    imported = re.findall(r"\w+", " ".join(itertools.chain(*imports)))
    names = {"torch", "nn", "F", *imported[:200]}  # more would take long
    private = [name for name in names if re.match("_[^_]", name)]
    of_torch = rf"(?:{'|'.join(names)})(?:\.\w+)*(?:\.|\W+['\"])_(?!_|C\b)\w"
    return rf"\b(?:{'|'.join([of_torch, *private])})"


def _watch(name: str) -> bool:
    """Watch a function or a layer; return False for a class in C, left as it is."""
    holder, last = _holder(name)
    target = getattr(holder, last, None)
    if not isinstance(target, type):
        _watch_in(holder, last, name)
    elif isinstance(inspect.getattr_static(target, "__init__"), FunctionType):
        for method in ("__init__", "forward"):  # its parameters would answer, too
            _watch_in(target, method, name)
    else:
        return False
    return True


def _watch_in(holder: Any, last: str, name: str) -> None:
    """Watch a function of a module, or a class's own method."""
    target = getattr(holder, last, None)
    function = inspect.unwrap(target) if callable(target) else None
    inherited = isinstance(holder, type) and last not in vars(holder)
    if isinstance(function, FunctionType) and not inherited:
        with contextlib.suppress(OSError, SyntaxError, ValueError):
            function.__code__ = _announcing(function, name)
            return
    if target is not None:
        setattr(holder, last, _watched(name, target))


def _announcing(function: FunctionType, name: str) -> CodeType:
    """Compile a function anew: no copy of the original is left to be called."""
    code = function.__code__
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    announce(definition, name)
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    flags = code.co_flags & __future__.annotations.compiler_flag
    module = compile(tree, code.co_filename, "exec", flags, dont_inherit=True)
    (anew,) = (each for each in module.co_consts if isinstance(each, CodeType))
    if anew.co_freevars != code.co_freevars:
        raise ValueError(f"{name} needs names of the function around it")
    return anew


def _holder(name: str) -> tuple[Any, str]:
    """Return the module or class that holds a function, and the name there."""
    parts = name.split(".")
    holder: Any = None
    for length in range(1, len(parts)):
        with contextlib.suppress(ImportError):
            holder = importlib.import_module(".".join(parts[:length]))
            continue
        holder = getattr(holder, parts[length - 1], None)
    return holder, parts[-1]


def _watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def watched(*arguments: Any, **keywords: Any) -> Any:
        sys.audit(CALLED, name)
        return function(*arguments, **keywords)

    del watched.__wrapped__  # it would bypass the watch
    return watched


def _start_profile(*, all_threads: bool) -> EndProfile:
    """Start to record operators, of this thread or of all; return how to end that.

    For all threads it takes a millisecond.
    """
    from torch import autograd
    from torch._C._profiler import _ExperimentalConfig as Experimental

    kinds = autograd.ProfilerState
    rest = False, False, Experimental(profile_all_threads=all_threads)
    if all_threads:
        settings = autograd.ProfilerConfig(kinds.KINETO, False, False, False, *rest)
        activities = {autograd.ProfilerActivity.CPU}
        autograd._prepare_profiler(settings, activities)
        autograd._enable_profiler(settings, activities)
        return lambda: {each.name() for each in autograd._disable_profiler().events()}
    settings = autograd.ProfilerConfig(kinds.CPU, False, False, False, *rest)
    autograd._enable_profiler_legacy(settings)
    end: Callable[[], list[list[Any]]] = autograd._disable_profiler_legacy
    return lambda: {each.name() for events in end() for each in events}


def _end_resource_tracker() -> None:
    """End a process of Python's own, which would look like one that computes.

    Shared memory starts it; it starts anew when it is needed.
    """
    if module := sys.modules.get("multiprocessing.resource_tracker"):
        with contextlib.suppress(Exception):
            module._resource_tracker._stop()


def _process_time() -> float:
    """Return a number that differs once a process of ours has ended, or while one runs.

    Not every way to start one is reported.
    """
    with contextlib.suppress(ChildProcessError):
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return float("nan")  # it runs: this differs from itself
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime + usage.ru_minflt


def _line_of(file: str, number: int) -> str:
    return linecache.getline(file, number).strip()[:500]
