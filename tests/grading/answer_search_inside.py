"""What ``answer_search`` runs in the sandbox: it calls a function in many ways."""

import importlib
import inspect
import itertools
import signal
import time

import numpy as np
import torch

MOST_COMBINATIONS, SECONDS, SECONDS_OF_CALL = 300, 0.6, 0.2
LOOPED = 15  # of the combinations
MANY = 40  # turns of a loop


def plain(value):
    """Return an array for what is one, in the course's eyes; else the value."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return value if np.ndim(value) else value.item()
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], str):
        try:
            array = np.asarray(value)
        except ValueError:
            return value
        return array if array.dtype.kind in "biuf" else value
    return value


def is_array(value):
    return isinstance(value, (np.ndarray, torch.Tensor)) and value.ndim > 0


def parts(value, depth=2, path=""):
    """Yield a value, and its items, keys and attributes, by the way to them."""
    yield path, value
    if depth == 0 or isinstance(value, (str, bytes, np.ndarray, torch.Tensor)):
        return
    if isinstance(value, (list, tuple)):
        inner = [(f"[{i}]", each) for i, each in enumerate(value[:4])]
        inner += [("[-1]", value[-1])] if value else []
    elif isinstance(value, dict):
        inner = [(f"[{key!r}]", each) for key, each in [*value.items()][:20]]
    elif hasattr(value, "__dict__") and not callable(value):
        inner = [(f".{key}", each) for key, each in [*vars(value).items()][:20]]
    else:
        return
    for step, each in inner:
        yield from parts(each, depth - 1, path + step)


def same(result, wanted):
    result, wanted = plain(result), plain(wanted)
    if isinstance(result, np.ndarray) and isinstance(wanted, np.ndarray):
        if result.shape != wanted.shape or result.dtype.kind not in "biuf":
            return False
        return np.allclose(result, wanted, rtol=1e-4, atol=1e-7, equal_nan=True)
    numbers = (int, float, np.number)
    if isinstance(result, numbers) and isinstance(wanted, numbers):
        return bool(np.isclose(result, wanted, rtol=1e-4, atol=1e-9))
    try:
        return type(result) is type(wanted) and bool(result == wanted)
    except Exception:
        return False


def is_trivial(wanted, provided):
    value = plain(wanted)
    if value is None or isinstance(value, bool):
        return True
    if hasattr(value, "__len__") and len(value) == 0:
        return True
    if isinstance(value, (int, float)) and value in (0, 1, 2):
        return True
    if isinstance(value, np.ndarray) and len(np.unique(value)) <= 1:
        return True
    inner = [part for each in provided for _, part in parts(each)]
    turned = [x.T for x in map(plain, inner) if isinstance(x, np.ndarray)]
    return any(same(each, wanted) for each in (*inner, *turned))


def pools(provided):
    """Return what may be passed: arrays, whole numbers, fractions, functions, rest."""
    arrays = {n: x for n, x in provided.items() if is_array(plain(x))}
    lists = {n: x for n, x in arrays.items() if not is_array(x)}
    arrays = {n: plain(x) if n in lists else x for n, x in arrays.items()}
    whole = {n: x for n, x in provided.items() if type(x) is int}
    parts_of = {n: x for n, x in provided.items() if type(x) is float}
    functions = {n: x for n, x in provided.items() if callable(x)}
    rest = {n: x for n, x in provided.items() if n not in {*arrays, *whole, *functions}}
    rest |= lists
    made = {}
    floats = {n: x for n, x in arrays.items() if plain(x).dtype.kind == "f"}
    for (a, x), (b, y) in itertools.product(floats.items(), repeat=2):
        try:
            if a != b and x.shape[-1] == y.shape[-1] and min(x.ndim, y.ndim) > 1:
                product = x @ y.swapaxes(-1, -2)
                made[f"{a}·{b}/√d"] = product / x.shape[-1] ** 0.5
                made[f"{a}·{b}"] = product
        except (RuntimeError, ValueError):
            pass
    for name, x in [*floats.items()][:1]:
        eye = np.eye(x.shape[-1])
        made[f"1 of {name}"] = (
            eye if isinstance(x, np.ndarray) else torch.eye(x.shape[-1], dtype=x.dtype)
        )
        made[f"some of {name}"] = np.ones(x.shape, bool)
    sizes = {
        f"{n}.shape[{i}]": int(np.shape(x)[i])
        for n, x in arrays.items()
        for i in (-1, -2)
        if np.ndim(x) >= -i
    }
    return (
        arrays | made,
        whole | {"1": 1} | sizes,
        parts_of | {"1.0": 1.0},
        functions,
        rest,
    )


def choices(parameter, provided, pool):
    arrays, whole, fractions, functions, rest = pool
    kind = str(parameter.annotation)
    if "Callable" in kind or "Function" in kind:
        chosen = dict(functions)
    elif "ndarray" in kind or "Tensor" in kind or "Array" in kind:
        chosen = dict(arrays)
    elif "bool" in kind:
        chosen = {"True": True, "False": False}
    elif "int" in kind and "list" not in kind and "Sequence" not in kind:
        chosen = dict(whole)
    elif "float" in kind and "list" not in kind and "Sequence" not in kind:
        chosen = fractions | whole
    else:
        chosen = rest | arrays | whole | fractions | functions
    if parameter.name in provided:
        chosen = {parameter.name: provided[parameter.name]} | chosen
    return [*chosen.items()]


def combinations(function, provided):
    """Yield arguments by position and by name, with what they are called."""
    straight = [*provided.items()]
    yield ", ".join(provided), [x for _, x in straight], {}
    pool = pools(provided)
    parameters = inspect.signature(function).parameters.values()
    needed = [
        p
        for p in parameters
        if p.default is p.empty
        and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    also = {
        p.name: provided[p.name]
        for p in parameters
        if p.default is not p.empty and p.name in provided
    }
    options = [choices(p, provided, pool) for p in needed]
    if not all(options):
        return
    every = itertools.islice(itertools.product(*options), 20 * MOST_COMBINATIONS)
    for number, chosen in enumerate(every):
        if number == MOST_COMBINATIONS:
            return
        names = ", ".join(name for name, _ in chosen)
        by_name = {
            p.name: x
            for p, (_, x) in zip(needed, chosen, strict=True)
            if p.kind is p.KEYWORD_ONLY
        }
        by_position = [
            x
            for p, (_, x) in zip(needed, chosen, strict=True)
            if p.kind is not p.KEYWORD_ONLY
        ]
        yield names, by_position, by_name
        if also:
            yield f"{names}, {', '.join(also)}", by_position, by_name | also


def numpy_or_torch(value, kind):
    if kind is torch and isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if kind is np and isinstance(value, torch.Tensor):
        return value.detach().numpy()
    return value


class TooLong(Exception):
    pass


def ring(*_):
    raise TooLong


def once(function, arguments, keywords):
    """Call a function with copies, as arrays or as tensors."""
    kinds = (None, np, torch)
    for kind in kinds:
        own = [numpy_or_torch(x, kind) for x in arguments]
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in own]
        named = {n: numpy_or_torch(x, kind) for n, x in keywords.items()}
        try:
            signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_CALL)
            return function(*own, **named)
        except TooLong:
            raise
        except Exception as error:
            last = error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not any(map(is_array, arguments)):
            break
    raise last


def looped(function, arguments, keywords, turns):
    """Call a function for each turn; return the parts of the results, stacked.

    turns : (index, arguments) pairs and the shape of all indices
    """
    result, shape = {}, None
    indices, shape = turns
    count = 0
    for own in indices:
        count += 1
        if count > MANY:
            return {}
        for path, part in parts(once(function, own, keywords)):
            result.setdefault(path, []).append(plain(part))
    stacked = {}
    for path, each in result.items():
        try:
            whole = np.array(each)
            if len(each) == count and whole.dtype.kind in "biuf":
                stacked[path] = whole.reshape(*shape, *whole.shape[1:])
        except ValueError:
            pass
    return stacked


def ways(function, arguments, keywords, provided):
    """Yield what a function gives as it is, and in loops."""
    try:
        result = dict(parts(once(function, arguments, keywords)))
    except TooLong:
        return
    except Exception:
        result = {}
    yield "as it is", {path: plain(part) for path, part in result.items()}
    arrays = [x for x in arguments if is_array(x)]
    if not arrays:
        return
    first = next(i for i, x in enumerate(arguments) if is_array(x))
    x = arguments[first]

    def vectors(x):
        lead = x.shape[:-1]
        for at in np.ndindex(*lead):
            yield [
                a[at] if is_array(a) and a.shape[:-1] == lead else a
                for a in [*arguments[:first], x, *arguments[first + 1 :]]
            ]

    def batch_of(a, at):
        if not is_array(a) or a.ndim <= 2:
            return a
        lead = a.shape[:-2]
        return a[
            tuple(i % n for i, n in zip(at[len(at) - len(lead) :], lead, strict=True))
        ]

    lead = max((a.shape[:-2] for a in arrays), key=len)

    def matrices():
        for at in np.ndindex(*lead):
            yield [batch_of(a, at) for a in arguments]

    def rows(keep):
        for at in np.ndindex(*lead):
            own = [batch_of(a, at) for a in arguments]
            n = len(own[first])
            for i in range(n):
                row = own[first][i : i + 1] if keep else own[first][i]
                others = [
                    a
                    if not (is_array(a) and same_rows and a.ndim > 1 and len(a) == n)
                    else (a[i : i + 1] if keep else a[i])
                    for a in own[first + 1 :]
                ]
                yield [*own[:first], row, *others]

    axis = provided.get("axis", -1)
    tries = []
    if x.ndim > 1:
        tries.append(("along the last axis", vectors(x), x.shape[:-1], -1))
    if (
        isinstance(axis, int)
        and axis not in (-1, x.ndim - 1)
        and -x.ndim <= axis < x.ndim
    ):
        moved = (
            np.moveaxis(x, axis, -1)
            if isinstance(x, np.ndarray)
            else x.movedim(axis, -1)
        )
        tries.append(("along the axis", vectors(moved), moved.shape[:-1], axis))
    if lead:
        tries.append(("per batch entry", matrices(), lead, -1))
    for name, turns, shape, back in tries:
        try:
            result = looped(function, arguments, keywords, (turns, shape))
        except TooLong:
            return
        except Exception:
            continue
        if back not in (-1, x.ndim - 1):
            result = {
                p: np.moveaxis(a, -1, back)
                for p, a in result.items()
                if a.ndim == x.ndim
            }
        yield name, result
    if x.ndim > 1:
        for keep, same_rows in itertools.product((True, False), repeat=2):
            try:
                result = looped(
                    function, arguments, keywords, (rows(keep), (*lead, x.shape[-2]))
                )
            except TooLong:
                return
            except Exception:
                continue
            if keep:
                result = {
                    p: a[..., 0, :] if a.ndim > 2 and a.shape[-2] == 1 else a[..., 0]
                    for p, a in result.items()
                    if a.ndim > 1 and a.size
                }
            yield f"row by row{', kept' * keep}{', others too' * same_rows}", result


def made_of(result):
    """Yield parts of a result, and what is quickly made of them."""
    arrays = {}
    for path, part in result.items():
        yield path, part
        if isinstance(part, np.ndarray) and part.dtype.kind == "f" and part.ndim:
            arrays[path] = part
            with np.errstate(all="ignore"):
                yield f"exp({path})", np.exp(part)
                yield f"log({path})", np.log(part)
            if part.ndim > 1:
                yield f"{path}.T", part.swapaxes(-1, -2)
    for (a, x), (b, y) in itertools.islice(
        itertools.permutations(arrays.items(), 2), 60
    ):
        with np.errstate(all="ignore"):
            if x.shape[:-1] == y.shape:
                yield f"{a} / {b}", x / y[..., np.newaxis]


def search(module, name, names, expected, *values):
    """Return the forms in which a function gives what is expected, or parts of it."""
    signal.signal(signal.SIGALRM, ring)
    provided = dict(zip(names, values, strict=True))
    try:
        function = getattr(importlib.import_module(module), name)
        returned = str(inspect.signature(function).return_annotation)
    except (ImportError, ValueError):  # an extra that is not installed; a C type
        return []
    if "Figure" in returned or returned in ("None", "str"):
        return []
    targets = [
        (path, part)
        for path, part in parts(expected, 1 if type(expected) in (tuple, dict) else 0)
        if not is_trivial(part, values)
    ]
    if not targets:
        return None
    forms, end = [], time.monotonic() + SECONDS
    try:
        for number, chosen in enumerate(combinations(function, provided)):
            called, by_position, by_name = chosen
            every = ways(function, by_position, by_name, provided)
            for way, result in itertools.islice(every, 1 if number >= LOOPED else None):
                passed = [*by_position, *by_name.values()]
                result = {  # who only keeps what it is provided answers nothing
                    path: part
                    for path, part in result.items()
                    if not any(same(each, part) for each in passed)
                }
                for path, part in made_of(result):
                    for target, wanted in targets:
                        if same(part, wanted):
                            forms.append(
                                f"{way}: ({called}){path} is the result{target}"
                            )
                if time.monotonic() > end:
                    break
            if time.monotonic() > end or len(forms) > 200:
                break
    except (TooLong, TypeError, ValueError):
        pass
    return sorted({*forms})[:300]
