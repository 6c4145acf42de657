"""Learn what *it* means in lesson 01's sentence (lesson 02): two layers of attention.

The sentences are those of ``course_lib.lessons.pronoun`` with other nouns and last
words: *The dog didn't cross the river because it was too deep.* In the row of *it* the
output is to be the vector of the noun that is meant; nothing says what to attend to.

Each word has a vector of 32 numbers, drawn and never changed. In the first layer each
word makes a note of 8 numbers from the sentence. In the second layer it attends with
its vector and its note, and a value is the vector of a word, without its note. PyTorch
differentiates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_lib.lessons import pronoun
from course_lib.lessons.environment import one_thread

ANIMALS = ("animal", "dog", "cat", "horse")
STREETS = ("street", "river", "road", "bridge")
OF_ANIMALS = ("tired", "hungry", "afraid", "young")
OF_STREETS = ("wide", "long", "deep", "icy")
IT = pronoun.WORDS.index("it")

WORD_SIZE, NOTE_SIZE, D_K = 32, 8, 8
LEARNING_RATE = 0.02

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class TwoLayers:
    """Two layers of self-attention at one moment of their training.

    step : how many steps they were trained
    vectors : word to its vector (32,)
    first : w_q, w_k (32, 8) and w_v (32, 8), which makes the notes
    second : w_q, w_k (40, 8) and w_v (40, 32), which leaves the notes out
    """

    step: int
    vectors: dict[str, np.ndarray]
    first: Parameters
    second: Parameters

    def embed(self, words: Sequence[str]) -> np.ndarray:
        """Return the words' vectors, (n, 32).

        Raises ``ValueError`` for a word that no sentence has.
        """
        unknown = [word for word in words if word not in self.vectors]
        if unknown:
            raise ValueError(f"{unknown[0]!r} has no vector: no sentence has this word")
        return np.array([self.vectors[word] for word in words])


def sentences() -> list[tuple[list[str], int]]:
    """Return all 128 sentences, each with the index of the noun that *it* means.

    >>> words, meant = sentences()[0]
    >>> words[-3:], words[meant]
    (['was', 'too', 'tired'], 'animal')
    """
    pairs = [(animal, street) for animal in ANIMALS for street in STREETS]
    return [
        _sentence(*pair, last) for pair in pairs for last in OF_ANIMALS + OF_STREETS
    ]


def training_sentences() -> list[tuple[list[str], int]]:
    """Return the 120 sentences that do not speak of an animal *and* of a street."""
    return [each for each in sentences() if not {"animal", "street"} <= {*each[0]}]


def train(seed: int, *, steps: int = 60, every: int = 10) -> Iterator[TwoLayers]:
    """Train on all training sentences at once; yield the layers now and then.

    seed : of the words' vectors and the first parameters
    steps : number of optimizer steps
    every : the layers are yielded before the first step and after so many

    Raises ``ValueError`` unless steps ≥ 0 and every ≥ 1.
    """
    if steps < 0 or every < 1:
        raise ValueError(f"steps={steps}, every={every} are not ≥ 0 and ≥ 1")
    rng = np.random.default_rng(seed)
    known = dict.fromkeys(word for words, _ in sentences() for word in words)
    vectors = {word: rng.normal(size=WORD_SIZE) for word in known}
    both = WORD_SIZE + NOTE_SIZE
    shapes = [(WORD_SIZE, D_K), (WORD_SIZE, D_K), (WORD_SIZE, NOTE_SIZE)]
    shapes += [(both, D_K), (both, D_K)]
    # Small ones: at first every word attends to all words nearly alike.
    first = [0.3 / shape[0] ** 0.5 * rng.normal(size=shape) for shape in shapes]
    parameters = [torch.tensor(each, requires_grad=True) for each in first]
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    examples = training_sentences()
    x = torch.tensor(np.array([[vectors[w] for w in words] for words, _ in examples]))
    target = x[torch.arange(len(x)), torch.tensor([meant for _, meant in examples])]
    for step in range(steps + 1):
        if step % every == 0 or step == steps:
            yield _layers(step, vectors, parameters)
        if step < steps:
            with one_thread():
                optimizer.zero_grad()
                _loss(x, target, parameters).backward()
                optimizer.step()


def _sentence(animal: str, street: str, last: str) -> tuple[list[str], int]:
    nouns = {"animal": animal, "street": street}
    words = [nouns.get(word, word) for word in (*pronoun.WORDS, last)]
    return words, words.index(animal if last in OF_ANIMALS else street)


def _loss(
    x: torch.Tensor, target: torch.Tensor, parameters: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Return the mean squared distance between the output of *it* and the noun."""
    q, k, v = (x @ each for each in parameters[:3])
    notes = scaled_dot_product_attention(q, k, v)
    noted = torch.cat([x, notes], dim=-1)  # (count, 11, 40)
    q, k = (noted @ each for each in parameters[3:])
    output = scaled_dot_product_attention(q, k, x)
    return ((output[:, IT] - target) ** 2).mean()


def _layers(
    step: int, vectors: dict[str, np.ndarray], parameters: Sequence[torch.Tensor]
) -> TwoLayers:
    w_q, w_k, w_v, w_q_2, w_k_2 = (each.detach().numpy().copy() for each in parameters)
    w_v_2 = np.eye(WORD_SIZE + NOTE_SIZE)[:, :WORD_SIZE]  # leaves the notes out
    return TwoLayers(step, vectors, (w_q, w_k, w_v), (w_q_2, w_k_2, w_v_2))
