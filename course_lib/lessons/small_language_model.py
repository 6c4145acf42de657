"""A language model that is small enough to be trained in seconds: short messages.

It reads and writes the most frequent words of a program's English messages, word by
word. ``record_contexts`` asks any model for the logits that a picture needs.
"""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from course_lib.corpora import translations
from course_lib.lessons.environment import one_thread, seeded
from course_lib.lessons.tiny_decoder import TinyDecoder, mask_for_torch
from course_lib.masks import causal_mask
from course_lib.nn import arguments

N_WORDS = 148
MAX_WORDS = 8  # of a message
START, END = "(start)", "(end)"
START_ID, END_ID = 0, 1
BATCH_SIZE = 64
IGNORE_INDEX = -100  # PyTorch's mark for a position that has no target

NextLogits = Callable[[list[int]], np.ndarray]


def short_messages() -> tuple[list[str], list[list[int]]]:
    """Load messages of two to eight words, of which all are among the most frequent.

    Returns the vocabulary, start and end first, and the token ids of the messages,
    without start and with the end. Punctuation at the end is left out.
    """
    messages = []
    for text in sorted(set(translations.texts("en").values())):
        if re.fullmatch(r"[A-Za-z ]+[.!?]?", text):
            words = re.findall(r"[a-z]+", text.lower())
            if 2 <= len(words) <= MAX_WORDS:
                messages.append(words)
    counts = Counter(word for words in messages for word in words)
    order = sorted(counts, key=lambda word: (-counts[word], word))
    vocabulary = [START, END, *order[:N_WORDS]]
    token_ids = {token: token_id for token_id, token in enumerate(vocabulary)}
    known = [words for words in messages if set(words) <= token_ids.keys()]
    return vocabulary, [[*map(token_ids.__getitem__, words), END_ID] for words in known]


def train_on_messages(
    messages: Sequence[Sequence[int]], vocab_size: int, steps: int = 300, seed: int = 0
) -> NextLogits:
    """Train a tiny decoder to predict each next word of the messages.

    messages : token ids of each message, without start and with the end
    steps : how many, each with a batch of 64 messages
    seed : of the parameters and the batches

    Returns the function that ``greedy_decode`` asks: it takes the token ids so far,
    start first, and returns the logits (vocab_size,) of what may come next.
    """
    n = MAX_WORDS + 1
    targets = torch.full((len(messages), n), IGNORE_INDEX)
    for row, message in zip(targets, messages, strict=True):
        row[: len(message)] = torch.tensor(message)
    starts = torch.full((len(messages), 1), START_ID)
    # What stands behind the end is seen by no position that has a target.
    decoder_input = torch.cat([starts, targets[:, :-1].clamp(min=0)], dim=1)
    may_attend = mask_for_torch(causal_mask(n))
    with one_thread(), seeded(seed):
        model = TinyDecoder(vocab_size, n)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(steps):
            batch = torch.randint(len(targets), (BATCH_SIZE,))
            logits = model(decoder_input[batch], may_attend)  # (batch, n, vocab_size)
            loss = cross_entropy(logits.mT, targets[batch], ignore_index=IGNORE_INDEX)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def next_logits(token_ids: list[int]) -> np.ndarray:
        if not 0 < len(token_ids) <= n:
            raise ValueError(f"token_ids must be 1 … {n} tokens, got {len(token_ids)}")
        mask = may_attend[: len(token_ids), : len(token_ids)]
        with one_thread(), torch.no_grad():
            return model(torch.tensor([token_ids]), mask)[0, -1].numpy()

    return next_logits


def record_contexts(
    next_logits: NextLogits,
    start: Sequence[int],
    end_id: int | None,
    n_contexts: int,
    max_length: int,
) -> dict[tuple[int, ...], np.ndarray]:
    """Record a model's logits for the most probable continuations of a start.

    next_logits : takes token ids, returns the logits (vocab_size,) of what may come
        next
    start : the token ids with which all contexts begin
    end_id : the token id behind which nothing comes; None if there is none
    n_contexts : how many contexts are recorded, if there are so many
    max_length : how many tokens a context may have, with those of the start

    Returns the logits by contexts, in the order in which they are the more probable
    ones; the start is the first.
    """
    arguments.whole(1, n_contexts=n_contexts, max_length=max_length)
    contexts: dict[tuple[int, ...], np.ndarray] = {}
    waiting = [(-0.0, tuple(start))]  # negative log-probabilities: a heap's first
    while waiting and len(contexts) < n_contexts:
        surprise, context = heapq.heappop(waiting)
        logits = next_logits([*context])
        arguments.scores("next_logits", logits)
        contexts[context] = np.array(logits, dtype=float)
        if len(context) < max_length:
            log_p = contexts[context] - np.logaddexp.reduce(contexts[context])
            for token_id in np.flatnonzero(np.isfinite(log_p)).tolist():
                if token_id != end_id:
                    longer = (*context, token_id)
                    heapq.heappush(waiting, (surprise - log_p[token_id], longer))
    return contexts
