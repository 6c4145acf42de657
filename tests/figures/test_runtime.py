"""What runs trained models in a page computes what PyTorch computes.

Both have the same numbers: those of the file, float16, in float32. Small models with
random parameters stand for the trained ones, which thorough tests compare.
"""

import base64

import numpy as np
import pytest
import torch

from course_lib.nn.decoding import translate
from course_lib.nn.model_file import read_model_file
from course_lib.nn.models import MODELS, is_made
from course_lib.nn.sampling import (
    apply_temperature,
    sample,
    top_k_filter,
    top_p_filter,
)
from course_lib.nn.training.subwords import END_ID, START_ID
from tests.figures.runtime import LARGEST, as_bytes, page_with
from tests.figures.small_models import (
    ODD_TEXTS,
    PAIRS,
    small_language_model,
    small_translator,
)

MAX_DIFFERENCE = 1e-3
NEEDS_FILE = "make models has not been run"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return the file of a small language model."""
    return small_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def small_pairs(tmp_path_factory):
    """Return the file of a small translator."""
    return small_translator(tmp_path_factory.mktemp("model"))


def random_contexts(count, vocab_size, longest, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, count)
    return [rng.integers(0, vocab_size, n).tolist() for n in lengths]


def last_logits(model, contexts):
    with torch.inference_mode():
        return [model(torch.tensor([ids]))[0, -1].numpy() for ids in contexts]


def assert_same_logits(path, count, folder):
    model, _ = read_model_file(path).load()
    config = model.config
    contexts = random_contexts(count, config.vocab_size, config.n_positions)
    expected = last_logits(model, contexts)
    with page_with(folder, path.read_bytes()) as page:
        arguments = [contexts, as_bytes(np.stack(expected))]
        largest, compared = page.evaluate(LARGEST, arguments)
    assert compared == count * config.vocab_size
    assert largest <= MAX_DIFFERENCE
    print(f"largest difference of logits: {largest:.2e}")


def test_logits_are_those_of_pytorch(small, tmp_path):
    assert_same_logits(small, 30, tmp_path)


def test_weights_of_every_head_are_those_of_pytorch(small, tmp_path):
    model, _ = read_model_file(small).load()
    ids = random_contexts(1, 256, 1, seed=2)[0] * 3 + [1, 2, 3, 5, 8, 13]
    with torch.inference_mode():
        expected = model.attention_weights(torch.tensor([ids]))[0].numpy()
    with page_with(tmp_path, small.read_bytes()) as page:
        page.evaluate("ids => model.read(ids)", ids)
        for i in range(len(ids)):
            weights = page.evaluate(
                """async i => (await model.weights(i)).map(
                    layer => layer.map(head => [...head]))""",
                i,
            )
            np.testing.assert_allclose(weights, expected[:, :, i, : i + 1], atol=1e-5)


def test_cache_is_reused_as_far_as_tokens_are_the_same(small, tmp_path):
    model, _ = read_model_file(small).load()
    read = [[5, 6, 7], [5, 6, 7, 8], [5, 6, 9], [5], [4]]
    expected = last_logits(model, read)
    with page_with(tmp_path, small.read_bytes()) as page:
        for ids, logits, reused in zip(read, expected, [0, 3, 2, 1, 0], strict=True):
            answer = page.evaluate(
                """async ids => {
                    const { logits, reused, computed } = await model.read(ids);
                    return { logits: [...logits], reused, computed };
                }""",
                ids,
            )
            assert (answer["reused"], answer["computed"]) == (reused, len(ids) - reused)
            np.testing.assert_allclose(answer["logits"], logits, atol=MAX_DIFFERENCE)


def test_tokens_are_those_of_python(small, small_pairs, tmp_path):
    for path, texts in (
        (small, ODD_TEXTS),
        (small_pairs, [*ODD_TEXTS, *(source for source, _ in PAIRS)]),
    ):
        _, tokenizer = read_model_file(path).load()
        with page_with(tmp_path, path.read_bytes()) as page:
            for text in texts:
                answer = page.evaluate("text => model.encode(text)", text)
                assert answer["ids"] == tokenizer.encode(text), text[:40]
                ids = answer["ids"][:50]
                decoded = page.evaluate("ids => model.decode(ids)", ids)
                assert decoded == tokenizer.decode(ids), text[:40]


@pytest.mark.parametrize(("beam_size", "alpha"), [(1, 0.6), (4, 0.6), (4, 2.5)])
def test_translations_are_those_of_python(beam_size, alpha, small_pairs, tmp_path):
    model, _ = read_model_file(small_pairs).load()
    rng = np.random.default_rng(3)
    vocab_size = model.config.vocab_size
    sources = [rng.integers(3, vocab_size, n).tolist() for n in range(1, 21)]
    options = {"beam_size": beam_size, "max_length": 12, "alpha": alpha}
    expected = translate(model, sources, START_ID, END_ID, **options)
    lengths = {len(target) for target in expected}
    assert alpha == 0.6 or len(lengths) > 2  # some end early, and some late
    with page_with(tmp_path, small_pairs.read_bytes()) as page:
        for source, target in zip(sources, expected, strict=True):
            arguments = [
                source,
                {"beamSize": beam_size, "maxLength": 12, "alpha": alpha},
            ]
            answer = page.evaluate(
                "async ([ids, options]) => await model.translate(ids, options)",
                arguments,
            )
            assert answer["ids"] == target
            assert len(answer["weights"]) == len(target)
        assert page.evaluate("model.translate([])")["ids"] == []


def test_cross_attention_is_that_of_pytorch(small_pairs, tmp_path):
    model, _ = read_model_file(small_pairs).load()
    source = [7, 9, 11, 20, 30]
    with page_with(tmp_path, small_pairs.read_bytes()) as page:
        answer = page.evaluate(
            """async source => {
                const { ids, weights } = await model.translate(source, {maxLength: 6});
                return { ids, weights: weights.map(layers => layers.map(
                    heads => heads.map(each => [...each]))) };
            }""",
            source,
        )
    target = torch.tensor([[START_ID, *answer["ids"][:-1]]])
    with torch.inference_mode():
        expected = model.attention_weights_by_head(torch.tensor([source]), target)
    weights = np.array(answer["weights"]).transpose(1, 2, 0, 3)
    np.testing.assert_allclose(weights, expected[0].numpy(), atol=1e-5)


def test_draws_are_those_of_lesson_12(small, tmp_path):
    logits = torch.tensor([2.0, 0.5, 1.9, -1.0, 0.0, 1.2])
    settings = [(1.0, 6, 1.0), (0.5, 3, 1.0), (2.0, 6, 0.7), (1.3, 4, 0.5)]
    with page_with(tmp_path, small.read_bytes()) as page:
        for temperature, k, p in settings:
            expected = apply_temperature(logits, temperature)
            expected = top_p_filter(top_k_filter(expected, k), p)
            us = [0.0, 0.1, 0.35, 0.5, 0.77, 0.999]
            after, ids = page.evaluate(
                """([logits, temperature, topK, topP, us]) => {
                    const tokens = distribution(logits, { temperature, topK, topP });
                    const after = [...tokens].sort((a, b) => a.id - b.id);
                    return [after.map(each => each.after),
                        us.map(u => drawn(tokens, u).id)];
                }""",
                [logits.tolist(), temperature, k, p, us],
            )
            assert after == pytest.approx(expected.tolist(), abs=1e-6)
            many = expected.expand(len(us), -1)
            assert ids == sample(many, torch.tensor(us)).tolist()


def broken(content):
    """Return what may be wrong with a file, by the sentence that says so."""
    other = bytearray(content)
    other[7:8] = b"0"
    changed = bytearray(content)
    changed[-1] ^= 1
    return {
        "The model file is cut off.": [content[:-10], content[:40], content[:9]],
        "The model file is of another version of the course.": [bytes(other)],
        "The model file is damaged.": [bytes(changed)],
        "The file is no model of this course.": [b"<!doctype html>", b""],
    }


def test_broken_file_is_said_in_a_sentence(small, tmp_path):
    content = small.read_bytes()
    with page_with(tmp_path, content) as page:
        for sentence, files in broken(content).items():
            for file in files:
                fault = page.evaluate(
                    """base64 => openModel({ name: "x", base64 }).then(
                        () => "opened", error => error.message)""",
                    base64.b64encode(file).decode() or " ",
                )
                assert fault == sentence
        fault = page.evaluate('openModel({ name: "x" }).catch(each => each.message)')
        assert fault == "The model is not in this page."


@pytest.mark.thorough
def test_trained_language_model_is_that_of_pytorch(tmp_path):
    if not is_made(MODELS["language model"]):
        pytest.skip(NEEDS_FILE)
    assert_same_logits(MODELS["language model"].path, 1000, tmp_path)


@pytest.mark.thorough
def test_trained_translator_is_that_of_pytorch(tmp_path):
    """Compare the translations of 200 held-out sentences, by greedy decoding."""
    from course_lib.corpora.translations import translation_pairs

    if not is_made(MODELS["translator"]):
        pytest.skip(NEEDS_FILE)
    path = MODELS["translator"].path
    model, tokenizer = read_model_file(path).load()
    texts = [pair.source for pair in translation_pairs().test[:200]]
    sources = [tokenizer.encode(text) for text in texts]
    expected = translate(model, sources, START_ID, END_ID)
    by_beams = translate(model, sources[:50], START_ID, END_ID, beam_size=4)
    with page_with(tmp_path, path.read_bytes()) as page:
        for source, target in zip(sources, by_beams, strict=False):
            answer = page.evaluate(
                "ids => model.translate(ids, { beamSize: 4 })", source
            )
            assert answer["ids"] == target
        for text, source, target in zip(texts, sources, expected, strict=True):
            assert page.evaluate("text => model.encode(text)", text)["ids"] == source
            answer = page.evaluate("ids => model.translate(ids)", source)
            assert answer["ids"] == target, text
            assert answer["text"] == tokenizer.decode(target), text
