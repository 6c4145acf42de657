"""Cases and misconceptions of ``delta_rule``."""

import numpy as np

from autograder import Exercise, families, standard_cases
from autograder.exercises.linear_attention import exercise as linear_attention_exercise
from course_lib.linear_attention import delta_rule

exercise = Exercise(
    delta_rule,
    lesson="15_attention_since_2023",
    minutes=15,
    difficulty=3,
    returns=("output", "new state"),
)


@exercise.spec
def spec(q, k, v, state, strengths):
    *leading, n, d_k = q.shape
    d_v = v.shape[-1]
    output = np.zeros((*leading, n, d_v))
    last = np.zeros((*leading, d_k, d_v))
    for batch in np.ndindex(*leading):
        own = state[batch].astype(float)
        for i in range(n):
            key, strength = k[*batch, i], float(strengths[*batch, i])
            stored = [sum(key[a] * own[a, b] for a in range(d_k)) for b in range(d_v)]
            for a in range(d_k):
                for b in range(d_v):
                    own[a, b] += strength * key[a] * (v[*batch, i, b] - stored[b])
            for b in range(d_v):
                output[*batch, i, b] = sum(
                    q[*batch, i, a] * own[a, b] for a in range(d_k)
                )
        last[batch] = own
    return output, last


def drawn(rng, leading=(), n=5, d_k=4, d_v=3):
    """Draw queries, keys of length 1, values, a state and strengths."""
    q, k = rng.normal(size=(2, *leading, n, d_k))
    k = k / np.linalg.norm(k, axis=-1, keepdims=True)
    v, state = (
        rng.normal(size=(*leading, n, d_v)),
        rng.normal(size=(*leading, d_k, d_v)),
    )
    return q, k, v, state, rng.uniform(0.2, 0.9, size=(*leading, n))


@exercise.usual
def usual(rng):
    return drawn(rng, (2,))


@exercise.case("The same key comes three times, by hand")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    k = np.array([[1.0, 0.0]] * 3)
    v = np.array([[8.0], [4.0], [2.0]])
    state = np.array([[0.0], [5.0]])
    expected = np.array([[8.0], [6.0], [9.0]]), np.array([[2.0], [5.0]])
    student.expect(student(q, k, v, state, np.array([1.0, 0.5, 1.0])), expected)
    student.agrees(*drawn(rng, n=3))


@exercise.case("From a state of zeros", weight=1.5)
def from_nothing(student, rng):
    q, k, v, state, strengths = drawn(rng)
    student.agrees(q, k, v, 0.0 * state, strengths)
    student.agrees(q, k, v, 0.0 * state, np.ones_like(strengths))


@exercise.case("From a state that earlier tokens have left", weight=1.5)
def from_a_state(student, rng):
    student.agrees(*drawn(rng))
    student.agrees(*drawn(rng, n=4, d_k=4, d_v=4))


exercise.case("Each sequence of a batch is handled by itself", weight=2)(
    standard_cases.leading_axes(
        drawn, (2,), (2, 3), dict(leading=(4,), n=4, d_k=4, d_v=4)
    )
)


@exercise.case(
    "With strengths of 0 the state stays as it came", visible=False, weight=0.5
)
def strengths_of_zero(student, rng):
    q, k, v, state, strengths = drawn(rng)
    student.expect(student(q, k, v, state, 0.0 * strengths), (q @ state, state))


@exercise.case("A single token, and vectors of one component, keep their axes")
def smallest_sizes(student, rng):
    student.agrees(*drawn(rng, n=1))
    student.agrees(*drawn(rng, (2,), n=1))
    student.agrees(*drawn(rng, d_k=1))
    student.agrees(*drawn(rng, d_v=1))


exercise.case("The arguments, the state among them, are not modified", weight=0.5)(
    standard_cases.arguments_stay(drawn, dict(n=4, d_k=4, d_v=4), (2,))
)


exercise.edits(
    """
value_added: error = value
  Your value is added to the state, and nothing is taken away from what was stored.
  ? If a key comes twice, with the values 8 and 4, what should it find?
  # That is linear attention without a decay.
error_negative: error = key @ state - value
  Your error has the other sign: the state moves away from the value.
  ? After a step with strength 1, what should the key find?
  # A gradient is subtracted, and the signs of two differences are mixed up.
query_reads_the_error: key @ state -> q[..., i, np.newaxis, :] @ state
  Your error is that of what the query finds, not the key.
  ? Under which vector will the value be stored?
  # The query is what reads the state elsewhere.
strength_ignored: strength = 1.0
  Your strengths are not used: each token replaces what is stored.
  ? Which argument does your answer not use?
  # The update is written for one token that replaces what its key has stored.
strength_of_the_value_only:
  | strength = 1.0
  | error = value - key … ->
  :     error = strengths[..., i, np.newaxis, np.newaxis] * value - key @ state
  Your strength multiplies the value, and what was stored is taken away in whole.
  ? With strength 0, what should happen to the state?
  # β v kᵀ is one of two terms in the paper.
strength_of_the_stored_only:
  | strength = 1.0
  | error = value - key … ->
  :     error = value - strengths[..., i, np.newaxis, np.newaxis] * (key @ state)
  Your strength multiplies what was stored, and the value goes in whole.
  ? With strength 0, what should happen to the state?
  # β stands next to what is taken away, and v kᵀ follows it.
strength_twice:
  | error = value - key … ->
  :     error = strengths[..., i, np.newaxis, np.newaxis] * (value - key @ state)
  Your strength is multiplied in twice.
  ? With strength ½, how much of the error should go into the state?
  # It is put into the error, and into the update behind it again.
strength_as_decay: state + strength * -> (1 - strength) * state + strength *
  Your state fades as a whole, by the strength.
  ? What should happen to what is stored for other keys?
  # Gated forms have a decay as well, by another number.
first_strength_for_all:
  | strengths[..., i, np.newaxis, np.newaxis] ->
  :     strengths[..., 0, np.newaxis, np.newaxis]
  Your tokens all have the first one's strength.
  ? How many strengths has a sequence of n tokens?
  # One strength is taken for the whole sequence, as one decay would be.
query_before_the_update:
  | error = value - key … ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state)
  :     error = value - key @ state
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  Your query reads the state before its own token has been written.
  ? May token i attend to itself?
  # A cell that reads and then writes is the order of many recurrences.
error_from_the_first_state:
  | outputs = … ->
  :     outputs = []
  :     given = state
  | key @ state -> key @ given
  Your errors are all those of the state that was handed in.
  ? What has token 0 stored when token 1 comes?
  # All errors can be computed at once so.
state_overwritten: state + strength * -> strength *
  Your state is the newest product alone.
  ? What is left of the tokens before?
  # state = … is written for state = state + ….
queries_normalised:
  | outputs = … ->
  :     outputs = []
  :     q = q / np.linalg.norm(q, axis=-1, keepdims=True)
  Your queries are divided by their lengths.
  ? Of which vectors does the docstring say that they have length 1?
  # Keys have length 1 here, and queries often get it, too.
error_as_output:
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(error)
  Your outputs are the errors.
  ? What should a query find?
  # The error is the last thing that the loop computes.
""",
)
exercise.edits(
    """
state_ignored:
  | outputs = … ->
  :     outputs = []
  :     state = np.zeros_like(state)
scaled:
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state / q.shape[-1] ** 0.5)
keys_for_queries:
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(key @ state)
state_transposed: , state) -> , np.swapaxes(state, -1, -2))
first_state_returned:
  | outputs = … ->
  :     outputs = []
  :     given = state
  | , state) -> , given)
reversed_order: range(q.shape[-2]) -> reversed(range(q.shape[-2]))
state_changed_in_place:
  | state = state + strength * np.swapaxes(key, -1, -2) * error ->
  :     state += strength * np.swapaxes(key, -1, -2) * error
""",
    words=linear_attention_exercise.words,
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.squeezed(),
)
