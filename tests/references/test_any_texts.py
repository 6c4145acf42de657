"""Any texts, words and merges: the spec's result, or an error that names an argument.

What ``test_any_arguments`` is for arrays, for byte-pair encoding: the exercises'
functions against their specs, the fast ones, the tokenizer and the files against the
exercises' functions.
"""

import os
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checking.registry import load
from course_lib import bpe, byte_bpe, fast_bpe
from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.merges_file import load_merges, save_merges
from tests.references.test_any_arguments import assert_own_error

N_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))

ODD = [None, 1.5, True, -1, 2**70, b"ab", "ab", object(), ["ab"], [("a",)], [(1, 2)]]
ODD += [{"ab": 1}, {("a",): 1.5}, {("a",): -1}, {(1,): 1}, [[1], [1, 2]], ["\ud800"]]
ODD += ["\ud800", ("",), [("中", "a")], [256.0], [10**9]]

texts = st.text(st.sampled_from("aab ĠÃ\t\n中🐈'<end></w>")) | st.text()
symbols = st.sampled_from(["a", "b", "ab", "Ġ", "c</w>"])
word = st.lists(symbols, max_size=7).map(tuple)
words = st.dictionaries(word, st.integers(0, 5), max_size=6)
pair = st.tuples(symbols, symbols)
special = st.sampled_from([(), ("<end>",), ["<end>", "<end></w>"], ("a",)])
n_merges = st.integers(0, 9)
# Merges as training gives them: of words, and of bytes.
letters = st.text("aabc ", max_size=40)
of_words = letters.map(lambda text: bpe.train_bpe(bpe.word_counts(text), 6))
of_bytes = letters.map(
    lambda text: bpe.train_bpe(byte_bpe.pre_token_counts(text), 6)
).map(lambda merges: [list(each) for each in merges] if len(merges) > 3 else merges)
token_ids = st.lists(st.integers(0, 262))


def spec(name):
    return load(name).expected_function


def as_tuples(merges):
    return [tuple(each) for each in merges]


def saved_and_loaded(merges, *, folder):
    save_merges(folder / "merges.txt", merges)
    return load_merges(folder / "merges.txt")


def tokens_of_bytes(merges, text):
    tokens = byte_bpe.byte_vocabulary(merges)
    return [tokens[each] for each in byte_bpe.encode_bytes(text, merges)]


def with_tokenizer(merges, text, special_tokens):
    tokenizer = ByteTokenizer(merges, special_tokens)
    token_ids = tokenizer.encode(text)
    return token_ids, tokenizer.decode(token_ids), tokenizer.vocabulary


def with_functions(merges, text, special_tokens):
    token_ids = byte_bpe.encode_bytes(text, merges, special_tokens)
    vocabulary = byte_bpe.byte_vocabulary(merges, special_tokens)
    return token_ids, text, vocabulary


def trained_by_functions(texts, vocab_size, special_tokens):
    words = Counter()
    for text in [texts] if isinstance(texts, str) else texts:
        words.update(byte_bpe.pre_token_counts(text, special_tokens))
    n_merges = vocab_size - 256 - len(special_tokens)
    return fast_bpe.train_bpe_fast(words, n_merges, "last bytes")


# What is called, what answers rightly, and what the arguments are if they are not odd.
CALLS = {
    "word_counts": (bpe.word_counts, spec("word_counts"), {"text": texts}),
    "pair_counts": (bpe.pair_counts, spec("pair_counts"), {"words": words}),
    "merge_pair": (bpe.merge_pair, spec("merge_pair"), {"symbols": word, "pair": pair}),
    "train_bpe": (
        bpe.train_bpe,
        spec("train_bpe"),
        {"words": words, "n_merges": n_merges},
    ),
    "encode_word": (
        bpe.encode_word,
        lambda word, merges: spec("encode_word")(word, as_tuples(merges)),
        {"word": word, "merges": st.lists(pair, max_size=5) | of_words},
    ),
    "decode": (bpe.decode, spec("decode"), {"tokens": st.lists(symbols | texts)}),
    "vocabulary": (
        bpe.vocabulary,
        lambda words, merges: [
            *dict.fromkeys(
                [*sorted({s for each in words for s in each}), *map("".join, merges)]
            )
        ],
        {"words": words, "merges": of_words},
    ),
    "pre_tokens": (
        lambda text: "".join(byte_bpe.pre_tokens(text)),
        lambda text: text,
        {"text": texts},
    ),
    "spell_bytes": (
        byte_bpe.spell_bytes,
        lambda pre_token: tuple(byte_bpe.ALPHABET[byte] for byte in pre_token.encode()),
        {"pre_token": texts},
    ),
    "pre_token_counts": (
        byte_bpe.pre_token_counts,
        lambda text, special_tokens: Counter(
            byte_bpe.spell_bytes(each)
            for part in byte_bpe.split_special(text, special_tokens)
            if part not in special_tokens
            for each in byte_bpe.pre_tokens(part)
        ),
        {"text": texts, "special_tokens": special},
    ),
    "encode_bytes": (
        byte_bpe.encode_bytes,
        lambda text, merges, special_tokens: spec("encode_bytes")(
            text, as_tuples(merges), special_tokens
        ),
        {"text": texts, "merges": of_bytes, "special_tokens": special},
    ),
    "decode_bytes": (
        byte_bpe.decode_bytes,
        spec("decode_bytes"),
        {"token_ids": token_ids, "merges": of_bytes, "special_tokens": special},
    ),
    "train_bpe_fast": (
        fast_bpe.train_bpe_fast,
        bpe.train_bpe,
        {"words": words, "n_merges": n_merges},
    ),
    "word_encoder": (
        lambda merges, text: fast_bpe.word_encoder(merges)(text),
        lambda merges, text: [
            token
            for each in text.split()
            for token in bpe.encode_word(bpe.spell(each), merges)
        ],
        {"merges": of_words, "text": texts},
    ),
    "byte_encoder": (
        lambda merges, text: fast_bpe.byte_encoder(merges)(text),
        tokens_of_bytes,
        {"merges": of_bytes, "text": texts},
    ),
    "ByteTokenizer": (
        with_tokenizer,
        with_functions,
        {"merges": of_bytes, "text": texts, "special_tokens": special},
    ),
    "ByteTokenizer.decode": (
        lambda token_ids: ByteTokenizer([], ["<end>"]).decode(token_ids),
        lambda token_ids: byte_bpe.decode_bytes(token_ids, [], ["<end>"]),
        {"token_ids": token_ids},
    ),
    "ByteTokenizer.train": (
        lambda texts, vocab_size, special_tokens: (
            ByteTokenizer.train(texts, vocab_size, special_tokens).merges
        ),
        trained_by_functions,
        {
            "texts": texts | st.lists(texts, max_size=3),
            "vocab_size": st.integers(255, 270),
            "special_tokens": special,
        },
    ),
    "merges_file": (saved_and_loaded, as_tuples, {"merges": of_words | of_bytes}),
}


@st.composite
def calls(draw, strategies):
    """Draw arguments; one in eight calls has an odd one."""
    arguments = {name: draw(each) for name, each in strategies.items()}
    if draw(st.integers(0, 7)) == 0:
        arguments[draw(st.sampled_from([*arguments]))] = draw(st.sampled_from(ODD))
    return arguments


@pytest.mark.parametrize("name", CALLS)
def test_right_or_refused(name, tmp_path_factory):
    check_with(name, N_EXAMPLES, tmp_path_factory.mktemp("merges"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_right_or_refused_many_times(name, tmp_path_factory):
    check_with(name, max(1000, N_EXAMPLES), tmp_path_factory.mktemp("merges"))


def check_with(name, n_examples, folder):
    function, right, strategies = CALLS[name]
    more = {"folder": folder} if name == "merges_file" else {}
    answered = []

    @settings(max_examples=n_examples, derandomize=True, database=None)
    @given(calls(strategies))
    def check(arguments):
        try:
            result = function(**arguments, **more)
        except Exception as error:
            assert_own_error(error, function)
            return
        assert result == right(**arguments)
        answered.append(result)

    check()
    assert any(answered), "every call was refused: nothing was compared"
