"""Cases and misconceptions of ``linear_attention``."""

import numpy as np

from autograder import Exercise, families
from course_lib.linear_attention import linear_attention

exercise = Exercise(
    linear_attention,
    lesson="15_attention_since_2023",
    minutes=12,
    difficulty=2,
    returns=("output", "new state"),
)


@exercise.spec
def spec(q, k, v, state, decay=1.0):
    *leading, n, d_k = q.shape
    d_v = v.shape[-1]
    output = np.zeros((*leading, n, d_v))
    last = np.zeros((*leading, d_k, d_v))
    for batch in np.ndindex(*leading):
        own = state[batch].astype(float)
        for i in range(n):
            for a in range(d_k):
                for b in range(d_v):
                    product = float(k[*batch, i, a]) * float(v[*batch, i, b])
                    own[a, b] = own[a, b] * decay + product
            for b in range(d_v):
                output[*batch, i, b] = sum(
                    q[*batch, i, a] * own[a, b] for a in range(d_k)
                )
        last[batch] = own
    return output, last


inputs = exercise.inputs(n=5, d_k=4, d_v=3)


@exercise.usual
def usual(rng):
    return *inputs(rng, (2,)), 0.75


@exercise.case("Three tokens, by hand, without and with a decay of one half")
def small_example_by_hand(student, rng):
    q = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    k = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    v = np.array([[8.0], [4.0], [1.0]])
    zeros = np.zeros((2, 1))
    expected = np.array([[8.0], [12.0], [10.0]]), np.array([[9.0], [5.0]])
    student.expect(student(q, k, v, zeros), expected)
    expected = np.array([[8.0], [8.0], [6.0]]), np.array([[3.0], [3.0]])
    student.expect(student(q, k, v, zeros, 0.5), expected)
    student.agrees(*inputs(rng, n=3))


@exercise.case("From a state of zeros, with and without a decay", weight=1.5)
def from_nothing(student, rng):
    for decay in (1.0, float(rng.uniform(0.5, 0.9))):
        q, k, v, state = inputs(rng)
        student.agrees(q, k, v, 0.0 * state, decay)
    q, k, v, state = inputs(rng, n=4, d_v=4)
    student.agrees(q, k, v, 0.0 * state, 0.5)


@exercise.case("From a state that earlier tokens have left", weight=1.5)
def from_a_state(student, rng):
    student.agrees(*inputs(rng))
    student.agrees(*inputs(rng), float(rng.uniform(0.5, 0.9)))
    student.agrees(*inputs(rng, alike=4), 0.25)


@exercise.case("Each sequence of a batch is handled by itself", weight=2)
def leading_axes(student, rng):
    student.agrees(*inputs(rng, (2,)), 0.75)
    student.agrees(*inputs(rng, (2, 3)), 0.5)
    student.agrees(*inputs(rng, (4,), alike=4))


@exercise.case(
    "A sequence in two pieces, the state handed on, gives what it gives at once",
    weight=0.5,
    visible=False,
    pays_alone=False,
)
def in_two_pieces(student, rng):
    q, k, v, state = inputs(rng, n=7)
    whole, last = student(q, k, v, state, 0.5)
    first, between = student(q[:3], k[:3], v[:3], state, 0.5)
    second, end = student(q[3:], k[3:], v[3:], between, 0.5)
    student.expect(np.concatenate([first, second]), whole, what="the output in pieces")
    student.expect(end, last, what="the state after the second piece")


@exercise.case("A single token, and vectors of one component, keep their axes")
def smallest_sizes(student, rng):
    student.agrees(*inputs(rng, n=1), 0.5)
    student.agrees(*inputs(rng, (2,), n=1))
    student.agrees(*inputs(rng, d_k=1), 0.75)
    student.agrees(*inputs(rng, d_v=1), 0.75)


@exercise.case("The arguments, the state among them, are not modified", weight=0.5)
def arguments_stay(student, rng):
    student.leaves_unchanged(*inputs(rng, alike=3, whole=(1, 9)), 0.5)
    student.leaves_unchanged(*inputs(rng, (2,)))


exercise.edits(
    """
query_before_the_update:
  | state = decay … ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state)
  :     state = decay * state + key * value
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  Your query reads the state before its own token has been added to it.
  ? May token i attend to itself?
  # A cell that reads and then writes is the order of many recurrences.
decay_after_the_sum: decay * state + key * value -> decay * (state + key * value)
  Your decay takes effect on the new product, too.
  ? If there is one token only, from a state of zeros, should the decay show?
  # The brackets come with 'the state fades at each token'.
decay_after_the_output:
  | state = decay … -> state = state + key * value
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state)
  :     state = decay * state
  Your decay comes last, after the output.
  ? In which order does the docstring name the three steps?
  # The state is made ready for the next token at the end of the loop.
decay_of_the_new:
  | decay * state + key * value ->
  :     decay * state + (1 - decay) * key * value
  Your new product is multiplied by 1 − decay.
  ? With decay 1, what is left of the new product?
  # Running means are kept like that.
decay_ignored: decay * state + -> state +
  Your state keeps everything, whatever decay is.
  ? Which argument does your answer not use?
  # It has a default.
decay_on_the_new_only: decay * state + key * value -> state + decay * key * value
  Your decay takes effect on the new product, and not on what was there.
  ? What should be left of a token that lies ten tokens back?
  # The factor lands on the wrong one of two terms.
state_ignored:
  | outputs = … ->
  :     outputs = []
  :     state = np.zeros_like(state)
  Your state begins with zeros, whatever is handed in.
  ? Which argument does your answer not use?
  # A loop that sums up begins with zeros.
state_overwritten: decay * state + key * value -> key * value
  Your state is the newest product alone.
  ? What is left of the tokens before?
  # state = … is written for state = decay · state + ….
not_causal: return (q @ state, state)
  Your outputs all come from the state after the last token.
  ? Which tokens may token 0 know about?
  # The outputs are computed in one product, behind the loop.
scaled:
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state / q.shape[-1] ** 0.5)
  Your outputs are divided by √d_k.
  ? What does the docstring say of scaling?
  # The scale belongs to softmax attention, and comes along out of habit.
divided_by_the_sum:
  | outputs = … ->
  :     outputs = []
  :     total = np.zeros((*k.shape[:-2], 1, k.shape[-1]))
  | state = decay … ->
  :     state = decay * state + key * value
  :     total = decay * total + np.swapaxes(key, -1, -2)
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     share = (q[..., i, np.newaxis, :] * total).sum(-1, keepdims=True)
  :     outputs.append(q[..., i, np.newaxis, :] @ state / share)
  Your outputs are divided by the sum of the query's dot products.
  ? What does the docstring say of dividing?
  # Katharopoulos et al. (2020) divide, with queries and keys that are positive.
positive_features:
  | outputs = … ->
  :     outputs = []
  :     q, k = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (q, k))
  Your queries and keys go through elu(x) + 1 first.
  ? Does the docstring change the queries and keys before they are used?
  # Katharopoulos et al. (2020) have this function.
positive_and_divided:
  | outputs = … ->
  :     outputs = []
  :     q, k = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (q, k))
  :     total = np.zeros((*k.shape[:-2], 1, k.shape[-1]))
  | state = decay … ->
  :     state = decay * state + key * value
  :     total = decay * total + np.swapaxes(key, -1, -2)
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     share = (q[..., i, np.newaxis, :] * total).sum(-1, keepdims=True)
  :     outputs.append(q[..., i, np.newaxis, :] @ state / share)
  Your queries and keys go through elu(x) + 1, and your outputs are divided by a sum.
  ? What does the docstring say of dividing, and of functions of queries and keys?
  # That is the whole of Katharopoulos et al. (2020).
softmax_of_scores:
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     scores = q[..., i, np.newaxis, :] @ np.swapaxes(k[..., :i + 1, :], -1, -2)
  :     powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
  :     powers = powers / powers.sum(axis=-1, keepdims=True)
  :     outputs.append(powers @ v[..., :i + 1, :])
  Your outputs are those of attention with a softmax.
  ? Where does your output use the state?
  # Causal attention is written from memory, next to the state.
keys_for_queries: q[..., i, np.newaxis, :] @ state -> k[..., i, np.newaxis, :] @ state
  Your outputs are the keys times the state.
  ? Which argument does your answer not use?
  # key is at hand in the loop.
state_transposed: , state) -> , np.swapaxes(state, -1, -2))
  Your new state is transposed: values by keys.
  ? Which shape does the docstring promise for the state?
  # Papers write v kᵀ, with columns for tokens.
first_state_returned:
  | outputs = … ->
  :     outputs = []
  :     given = state
  | , state) -> , given)
  Your new state is the one that was handed in.
  ? After which token should the state be returned?
  # The name of the argument is kept for the state at the start.
all_states_returned:
  | outputs = … ->
  :     outputs, states = [], []
  | outputs.append(q[..., i, np.newaxis, :] @ state) ->
  :     outputs.append(q[..., i, np.newaxis, :] @ state)
  :     states.append(state)
  | , state) -> , np.stack(states, axis=-3))
  Your new state is a list of the states after each token.
  ? After which token should the state be returned?
  # They are kept to compute the outputs in one go.
elementwise_sum: key * value -> key + value
  Your key and value are added, not multiplied.
  ? Which entry of a product of a column and a row is in row a, column b?
  # Broadcasting makes a matrix of either.
last_token_missing: range(q.shape[-2]) -> range(max(q.shape[-2] - 1, 1))
  Your loop ends before the last token.
  ? How many outputs should there be?
  # The last token has no next one, as in a loop over pairs.
reversed_order: range(q.shape[-2]) -> reversed(range(q.shape[-2]))
  Your tokens are taken from the last to the first.
  ? In which order do tokens come?
  # A loop that counts down, as in backpropagation through time.
state_changed_in_place:
  | state = decay … ->
  :     state *= decay
  :     state += key * value
  Your call writes into the caller's state.
  ? Which line of yours writes into the array that the caller holds?
  # `state += …` looks like a new state, and changes the old one.
""",
)

exercise.family(
    families.results_exchanged(),
    families.one_result_only("output"),
    families.squeezed(),
)
