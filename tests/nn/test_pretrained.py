"""MiniLM runs on the course's parts as it does in the package transformers."""

import pytest
import torch
import transformers  # which imports a model where it is named

from course_lib.corpora.encoder import pretrained_encoder
from course_lib.nn.pretrained import (
    SentenceEncoder,
    encode_pretrained,
    encode_with_heads,
    pool,
)

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Attention is all you need!",
    "it",
]
BOUND = 1e-5  # float32; the largest entry of a vector is about 3


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder.load()


@pytest.fixture(scope="module")
def theirs(encoder):
    source = pretrained_encoder().config
    names = transformers.BertConfig().to_dict().keys() & source.keys()
    names -= {"transformers_version", "_name_or_path", "model_type", "use_cache"}
    config = transformers.BertConfig(**{name: source[name] for name in names})
    config._attn_implementation = "eager"  # else there are no weights
    model = transformers.BertModel(config).eval()
    _, unexpected = model.load_state_dict(encoder.parameters, strict=False)
    assert not unexpected
    return model


@pytest.fixture(scope="module")
def their_output(encoder, theirs):
    token_ids, is_token = encoder.encode_texts(SENTENCES)
    with torch.no_grad():
        return theirs(token_ids, is_token.long(), output_attentions=True)


def test_vectors_equal_those_of_transformers(encoder, their_output):
    token_ids, is_token = encoder.encode_texts(SENTENCES)
    may_attend = is_token.unsqueeze(-2)
    arguments = token_ids, encoder.parameters, encoder.n_heads, may_attend
    for ours in (encode_pretrained(*arguments), encode_with_heads(*arguments)[0]):
        gap = (ours - their_output.last_hidden_state)[is_token].abs().max()
        assert gap < BOUND


def test_weights_equal_those_of_transformers(encoder, their_output):
    for index, sentence in enumerate(SENTENCES):
        ours = encoder.weights(sentence)
        n = ours.shape[-1]
        assert ours.shape == (6, 12, n, n)
        for layer, expected in enumerate(their_output.attentions):
            gap = (ours[layer] - expected[index, :, :n, :n]).abs().max()
            assert gap < BOUND


def test_sentence_vector_does_not_depend_on_the_batch(encoder):
    together = encoder.sentence_vectors(SENTENCES)
    for sentence, row in zip(SENTENCES, together, strict=True):
        alone = encoder.sentence_vectors([sentence])[0]
        torch.testing.assert_close(alone, row, atol=1e-5, rtol=0)


def test_similar_sentences_have_the_largest_cosine(encoder):
    cosines = encoder.similarities(
        [
            "A man is eating pizza.",
            "Somebody eats a slice of pizza.",
            "The stock market fell sharply today.",
        ]
    )
    torch.testing.assert_close(cosines.diagonal(), torch.ones(3))
    assert cosines[0, 1] > 0.7 > 0.2 > cosines[0, 2]


def test_gates_of_ones_change_nothing(encoder):
    gates = torch.ones(6, 12)
    torch.testing.assert_close(
        encoder.gated_vectors(SENTENCES, gates), encoder.sentence_vectors(SENTENCES)
    )


def test_a_closed_gate_equals_rows_of_zeros_in_the_projection(encoder):
    gates = torch.ones(6, 12)
    gates[3, 5] = 0
    name = "encoder.layer.3.attention.output.dense.weight"
    cut = encoder.parameters[name].clone()
    cut[:, 5 * 32 : 6 * 32] = 0  # (out, in): the inputs of head 5
    other = SentenceEncoder(encoder.parameters | {name: cut}, 12, encoder.tokenizer)
    pruned = encoder.gated_vectors(SENTENCES, gates)
    torch.testing.assert_close(pruned, other.sentence_vectors(SENTENCES))
    assert (pruned - encoder.sentence_vectors(SENTENCES)).abs().max() > 1e-3


def test_gates_have_gradients(encoder):
    gates = torch.ones(6, 12, requires_grad=True)
    first, second = encoder.gated_vectors(SENTENCES[:2], gates)
    (first @ second).backward()
    assert gates.grad is not None and (gates.grad != 0).all()


def test_changed_weights_are_those_that_mix_the_values(encoder):
    token_ids, _ = encoder.encode_texts(SENTENCES[:1])
    arguments = token_ids, encoder.parameters, encoder.n_heads
    with torch.no_grad():
        as_they_are, weights = encode_with_heads(*arguments)
        same, _ = encode_with_heads(*arguments, changed_weights=lambda i, w: w.clone())
        even, changed = encode_with_heads(
            *arguments, changed_weights=lambda i, w: torch.full_like(w, 1 / w.shape[-1])
        )
    torch.testing.assert_close(same, as_they_are)
    assert changed.unique().numel() == 1 < weights.unique().numel()
    assert (even - as_they_are).abs().max() > 0.1


def test_pool_leaves_padding_out():
    vectors = torch.tensor([[[3.0, 0.0], [3.0, 8.0]], [[0.0, 2.0], [9.0, 9.0]]])
    is_token = torch.tensor([[True, True], [True, False]])
    expected = torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    torch.testing.assert_close(pool(vectors, is_token), expected)


def test_wrong_arguments_are_refused(encoder):
    p, token_ids = encoder.parameters, torch.tensor([101, 102])
    with pytest.raises(ValueError, match="not divisible by n_heads=5"):
        encode_pretrained(token_ids, p, 5)
    with pytest.raises(ValueError, match="at least 513 rows, got 512"):
        encode_pretrained(torch.zeros(513, dtype=torch.int64), p, 12)
    with pytest.raises(ValueError, match="from 0 to 30521, got -1"):
        encode_pretrained(torch.tensor([-1]), p, 12)
    with pytest.raises(TypeError, match="may_attend must be boolean"):
        encode_pretrained(token_ids, p, 12, torch.ones(2, 2))
    with pytest.raises(ValueError, match="n_heads=12, got"):
        encode_with_heads(token_ids, p, 12, gates=torch.ones(6, 11))
    with pytest.raises(ValueError, match="one or more"):
        encoder.encode_texts("a sentence alone")
