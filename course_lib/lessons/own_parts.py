"""A notebook's functions, for cells that join several: written or not, and errors."""

import _thread
import threading
import types
from collections.abc import Callable
from typing import Any


def complete(names: dict[str, Any], module: types.ModuleType, *functions: str) -> None:
    """Put the course's functions where a notebook has none yet, and print which.

    names : what the notebook has, ``globals()``; what is missing is added
    module : has the course's functions
    functions : their names

    A function is missing if the notebook does not have it, or if it does nothing but
    raise ``NotImplementedError``. Others stay, right or wrong.
    """
    missing = [name for name in functions if is_missing(names.get(name))]
    names.update({name: getattr(module, name) for name in missing})
    yours = [name for name in functions if name not in missing]
    print("yours:", ", ".join(yours) or "none yet")
    if missing:
        print("the course's, until you run your own:", ", ".join(missing))


def is_missing(function: Any) -> bool:
    """Decide whether a function is not there, or not written yet.

    >>> def not_written():
    ...     raise NotImplementedError
    >>> is_missing(not_written), is_missing(None), is_missing(len)
    (True, True, False)
    """
    if not isinstance(function, types.FunctionType):
        return function is None
    return function.__code__.co_names == ("NotImplementedError",)


def in_time(seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or stop it after some seconds.

    Call this in the main thread. What runs in C is stopped once it is back in Python.
    Raises ``TimeoutError`` if the time is over.
    """
    lock = threading.Lock()
    runs, is_over = True, False

    def stop() -> None:
        nonlocal is_over
        with lock:
            if runs:
                is_over = True
                _thread.interrupt_main()

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        try:
            result = function(*arguments)
        finally:
            with lock:
                runs = False
            timer.cancel()
            if is_over:  # the interrupt arrives here at the latest
                threading.Event().wait(0.01)
    except KeyboardInterrupt:
        if not is_over:
            raise
    if is_over:
        raise TimeoutError(f"it took over {seconds:g} seconds")
    return result


def raised(error: Exception) -> str:
    """Return what an error says of itself, for a sentence.

    >>> raised(ValueError("no")), raised(ValueError())
    ('ValueError: no', 'ValueError')
    """
    reason = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{reason}"
