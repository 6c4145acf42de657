"""How long 8,000 merges take to learn from the German text, and the text to encode.

The text is the German of the training data. The fast trainer and encoders are timed
beside the reference, subword-nmt (Python, words) and Hugging Face's tokenizers (Rust;
bytes, and in encoding words too). Times are the processor's, of all threads together,
so that other work on the machine counts little. The candidates take turns, three each,
and medians are reported; in learning, the reference and subword-nmt are slow and run
once. The reference needs over nine minutes for all and learns the first 500 only, to
its favour: for those, the fast trainer needs three quarters of its time for all.
"""

from collections.abc import Callable
from itertools import product
from statistics import median
from time import process_time
from typing import Any

from autograder.course import Course
from course_lib.bpe import encode_word, spell, train_bpe, vocabulary, word_counts
from course_lib.byte_bpe import ALPHABET, encode_bytes, pre_token_counts
from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.fast_bpe import byte_encoder, train_bpe_fast, word_encoder
from tests.benchmarks.figure import Figure, above, against
from tests.bpe import peers
from tests.bpe.german import every, training_text

MERGES = 8000
SMALLER = 40  # times, for --quick: the text and the merges
MERGES_OF_REFERENCE = 500
TURNS = 3
WORDS_OF_REFERENCE = 2000  # to encode
MANY_MERGES = 50_000  # as GPT-2 has
NO_LIMIT = 10**9
Run = Callable[[Any], Any]  # what is timed: from a number to merges, texts to tokens
Make = Callable[[], Run]  # what is not: an encoder that remembers no words yet


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    text = every(SMALLER, training_text()) if quick else training_text()
    n_merges = MERGES // SMALLER if quick else MERGES
    words = word_counts(text)
    until_none = len(train_bpe_fast(words, NO_LIMIT))
    return [
        Figure("characters of the text", len(text), ""),
        Figure("words of the text", len(text.split()), ""),
        Figure("different words of the text", len(words), ""),
        Figure("merges until no pair occurs twice", until_none, ""),
        *_learning(text, n_merges),
        *_encoding_words(text, n_merges),
        *_encoding_bytes(text, n_merges),
        _thousand_letters(text, MANY_MERGES // SMALLER if quick else MANY_MERGES),
    ]


def _in_turns(
    turns: int, argument: Any, ours: Make, theirs: Make, read: Run = lambda run: run
) -> tuple[float, float]:
    """Return the medians of the seconds that two take for the same.

    read : turns what they find into what we find, which is not timed
    """
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(turns):
        results = []
        for make, taken in zip((ours, theirs), seconds, strict=True):
            run = make()
            start = process_time()
            results.append(run(argument))
            taken.append(process_time() - start)
        if results[0] != read(results[1]):
            raise AssertionError("two that should give the same do not")
    return median(seconds[0]), median(seconds[1])


def _learning(text: str, n_merges: int) -> list[Figure]:
    def fast(n: int) -> peers.Merges:
        return train_bpe_fast(word_counts(text), n)

    def reference(n: int) -> peers.Merges:
        return train_bpe(word_counts(text), n)

    def subword_nmt(n: int) -> str:
        return peers.file_of_subword_nmt(text, n)

    def fast_of_bytes(n: int) -> peers.Merges:
        return train_bpe_fast(pre_token_counts(text), n, "oldest")

    def tokenizers(n: int) -> peers.Tokenizer:
        return peers.byte_tokenizer(text, n)

    def beside(peer: str, of: str, n: int, turns: int, *runs: Run) -> Figure:
        ours, theirs, *read = runs
        times = _in_turns(turns, n, lambda: ours, lambda: theirs, *read)
        return against(f"{n:,} merges of {of}", times[0], "s", peer, times[1])

    few, learned = min(MERGES_OF_REFERENCE, n_merges), peers.merges_of_tokenizer
    words, of_bytes = ("words", n_merges, 1), ("bytes", n_merges, TURNS)
    return [
        beside("reference", "words", few, 1, fast, reference),
        beside("subword-nmt", *words, fast, subword_nmt, peers.merges_in_file),
        beside("tokenizers", *of_bytes, fast_of_bytes, tokenizers, learned),
    ]


def _encoding_words(text: str, n: int) -> list[Figure]:
    merges = train_bpe_fast(word_counts(text), n)
    tokens = vocabulary(word_counts(text), merges)
    words, lines = list(dict.fromkeys(text.split())), text.splitlines()
    few = words[:: max(len(words) // WORDS_OF_REFERENCE, 1)]

    def fast() -> Run:
        return _for_each(word_encoder(merges))

    def reference() -> Run:
        return _for_each(lambda word: encode_word(spell(word), merges))

    def subword_nmt() -> Run:
        encode = peers.subword_nmt_encoder(merges).segment_tokens
        return _for_each(lambda text: encode(text.split()))

    def tokenizers() -> Run:
        return peers.word_tokenizer(merges, tokens).encode_batch

    names = "different words", "words of the text"
    return [
        _pace(names[0], few, "reference", fast, reference),
        *(
            figure
            for name, texts in zip(names, (words, lines), strict=True)
            for figure in (
                _pace(name, texts, "subword-nmt", fast, subword_nmt, peers.marked),
                _pace(name, texts, "tokenizers", fast, tokenizers, peers.tokens_of),
            )
        ),
    ]


def _encoding_bytes(text: str, n: int) -> list[Figure]:
    lines, learned = text.splitlines(), peers.byte_tokenizer(text, n).to_str()
    merges = peers.merges_of_tokenizer(peers.Tokenizer.from_str(learned))

    def fast() -> Run:
        return _for_each(byte_encoder(merges))

    def tokenizers() -> Run:
        return peers.Tokenizer.from_str(learned).encode_batch

    name = "words of the text, as bytes"
    return [_pace(name, lines, "tokenizers", fast, tokenizers, peers.tokens_of)]


def _thousand_letters(text: str, n: int) -> Figure:
    """Encode 1,000 letters; that a tokenizer is made before is not timed."""
    learned = train_bpe_fast(pre_token_counts(text), n)
    # The text has fewer pairs: any two bytes make up the number, behind the learned.
    merges = [*dict.fromkeys([*learned, *product(ALPHABET, repeat=2)])][:n]

    def tokenizer() -> Run:
        return ByteTokenizer(merges).encode

    def functions() -> Run:
        return lambda letters: encode_bytes(letters, merges)

    seconds = _in_turns(1, text[:1000], tokenizer, functions)
    name = f"1,000 letters by ByteTokenizer, {n:,} merges"
    return against(name, 1000 * seconds[0], "ms", "encode_bytes", 1000 * seconds[1])


def _for_each(encode: Callable[[str], list[str]]) -> Run:
    return lambda texts: [encode(text) for text in texts]


def _pace(name: str, texts: list[str], peer: str, *who: Any) -> Figure:
    ours, theirs = _in_turns(TURNS, texts, *who)
    n_words = sum(len(text.split()) for text in texts)
    paces = n_words / ours / 1000, n_words / theirs / 1000
    return above(f"{n_words:,} {name} encoded", paces[0], "1000/s", peer, paces[1])
