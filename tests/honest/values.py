"""Right results that lie in memory in unusual ways, and answers that keep a memory."""

from collections.abc import Callable

from tests.honest import honest
from tests.honest.writing import on_top, typed
from tests.submissions import EXERCISES, Submission


def _every_array(submission: Submission, made: str) -> None:
    """Pass every array that an answer gives through ``made``, a function's source."""
    wrapper = typed("""
        def everywhere(function):
            def inner(*args, **kwargs):
                result = function(*args, **kwargs)
                if isinstance(result, tuple):
                    return tuple(made(part) for part in result)
                if isinstance(result, dict):
                    return {name: made(part) for name, part in result.items()}
                return made(result)
            return inner
    """)
    submission.own(f"{typed(made)}\n\n\n{wrapper}", above=EXERCISES_IN_ORDER[0])
    for name in EXERCISES:
        on_top(submission, name, "@everywhere")


EXERCISES_IN_ORDER = sorted(EXERCISES, key=Submission().index)


def _honest_array(name: str, made: str) -> Callable[[Submission], None]:
    """Add a case in which every array comes back as ``made`` gives it."""

    def build(submission: Submission) -> None:
        _every_array(submission, made)

    build.__name__ = name
    return honest(build)


_honest_array(
    "columns_first_in_memory", "def made(array):\n    return np.asfortranarray(array)"
)
_honest_array(
    "every_other_number_of_a_larger_array",
    """
    def made(array):
        wide = np.full((*array.shape, 2), np.nan)
        wide[..., 1] = array
        return wide[..., 1]
    """,
)
_honest_array(
    "backwards_in_memory",
    """
    def made(array):
        back = (slice(None, None, -1),) * array.ndim
        return array[back].copy()[back]
    """,
)
_honest_array(
    "read_only",
    """
    def made(array):
        return np.frombuffer(array.astype(float).tobytes()).reshape(array.shape)
    """,
)
_honest_array(
    "broadcast_without_memory_of_its_own",
    "def made(array):\n    return np.broadcast_to(array, (3, *array.shape))[2]",
)
_honest_array("other_byte_order", "def made(array):\n    return array.astype('>f8')")
_honest_array(
    "longer_floats", "def made(array):\n    return array.astype(np.longdouble)"
)
_honest_array(
    "always_double_precision", "def made(array):\n    return np.float64(array)"
)
_honest_array(
    "through_torch_and_back",
    "import torch\ndef made(array):\n    return torch.tensor(array).double().numpy()",
)
_honest_array(
    "from_a_file_mapped_into_memory",
    """
    import tempfile

    def made(array):
        with tempfile.TemporaryFile() as file:
            np.save(file, array)
            file.seek(0)
            return np.load(file)
    """,
)


@honest
def numpy_scalars_inside(submission: Submission) -> None:
    submission.answer(
        "scaled_scores",
        typed("""
            def scaled_scores(q, k):
                root = np.float64(np.sqrt(np.int64(q.shape[-1])))
                return np.divide(np.matmul(1.0 * q, k.swapaxes(-1, -2)), root)
        """),
    )


@honest
def dictionary_in_another_order_with_numpys_texts(submission: Submission) -> None:
    on_top(
        submission,
        "attention_step_by_step",
        """
        def turned_round(function):
            def inner(q1, k, v):
                steps = function(q1, k, v)
                names = np.array(sorted(steps)[::-1])
                return {name: steps[str(name)] for name in names}
            return inner


        @turned_round
        """,
    )


@honest
def arguments_returned_among_the_results(submission: Submission) -> None:
    submission.answer(
        "similarity_attention",
        typed("""
            def similarity_attention(x, y, keep=[]):
                keep.append((x, y))  # remembers every call
                x, y = keep[-1]
                return softmax(x @ np.swapaxes(y, -1, -2)) @ y
        """),
    )


@honest
def own_cache_and_counter(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        CACHE = {}
        COUNT = 0

        def cached(function):
            def inner(x, axis=-1):
                global COUNT
                COUNT += 1
                key = x.tobytes(), x.shape, x.dtype.str, axis
                if key not in CACHE:
                    CACHE[key] = function(x, axis)
                return CACHE[key]
            return inner

        @cached
        """,
    )


@honest
def chance_that_does_not_matter(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            import random

            np.random.seed(42)
            random.seed(42)


            def attention(q, k, v):
                order = np.random.permutation(k.shape[-2])
                weights = softmax(scaled_scores(q, k[..., order, :]))
                output = weights @ v[..., order, :]
                return output, weights[..., np.argsort(order)]
        """),
    )


@honest
def two_threads(submission: Submission) -> None:
    submission.answer(
        "attention",
        typed("""
            from concurrent.futures import ThreadPoolExecutor


            def attention(q, k, v):
                with ThreadPoolExecutor(max_workers=2) as pool:
                    scores = pool.submit(scaled_scores, q, k)
                    values = pool.submit(np.asarray, v)
                    weights = softmax(scores.result())
                    return weights @ values.result(), weights
        """),
    )


@honest
def whole_numbers_in_and_single_precision_out(submission: Submission) -> None:
    # PyTorch makes float32 of whole numbers: those are floats, as the lesson asks.
    submission.answer(
        "softmax",
        typed("""
            import torch


            def softmax(x, axis=-1):
                x = torch.as_tensor(x) * 1.0
                powers = (x - x.amax(axis, keepdim=True)).exp()
                return (powers / powers.sum(axis, keepdim=True)).numpy()
        """),
    )
    submission.answer(
        "scaled_scores",
        typed("""
            def scaled_scores(q, k):
                q, k = torch.as_tensor(q) * 1.0, torch.as_tensor(k) * 1.0
                return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).numpy()
        """),
    )
