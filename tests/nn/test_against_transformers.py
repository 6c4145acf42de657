"""The language model equals GPT-2 and Llama of the package transformers."""

import torch
import transformers  # which imports a model where it is named

from tests.nn.test_language_model import (
    DTYPES,
    TOLERANCE,
    largest_difference,
    model,
    token_ids,
)


@DTYPES
def test_logits_equal_those_of_gpt2(dtype):
    ours = model("GPT-2", dtype)
    config = transformers.GPT2Config(
        vocab_size=61,
        n_embd=24,
        n_layer=3,
        n_head=4,
        n_positions=20,
        activation_function="gelu",
        bos_token_id=0,
        eos_token_id=0,
    )
    theirs = transformers.GPT2LMHeadModel(config).to(dtype).eval()
    names = {
        "transformer.wte.weight": ours.embedding.weight,
        "transformer.wpe.weight": ours.positions.encoding,
        "transformer.ln_f.weight": ours.norm.weight,
        "transformer.ln_f.bias": ours.norm.bias,
    }
    for i, block in enumerate(ours.blocks):
        attention, network = block.attention, block.feed_forward
        projections = attention.query, attention.key, attention.value
        layer = f"transformer.h.{i}"
        names |= {
            f"{layer}.attn.c_attn.weight": torch.cat([p.weight for p in projections]).T,
            f"{layer}.attn.c_attn.bias": torch.cat([p.bias for p in projections]),
            f"{layer}.attn.c_proj.weight": attention.output.weight.T,
            f"{layer}.attn.c_proj.bias": attention.output.bias,
            f"{layer}.mlp.c_fc.weight": network.up.weight.T,
            f"{layer}.mlp.c_fc.bias": network.up.bias,
            f"{layer}.mlp.c_proj.weight": network.output.weight.T,
            f"{layer}.mlp.c_proj.bias": network.output.bias,
            f"{layer}.ln_1.weight": block.attention_norm.weight,
            f"{layer}.ln_1.bias": block.attention_norm.bias,
            f"{layer}.ln_2.weight": block.feed_forward_norm.weight,
            f"{layer}.ln_2.bias": block.feed_forward_norm.bias,
        }
    assert_same_logits(ours, theirs, names, dtype)


@DTYPES
def test_logits_equal_those_of_llama(dtype):
    ours = model("grouped", dtype)
    config = transformers.LlamaConfig(
        vocab_size=61,
        hidden_size=24,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-6,
        max_position_embeddings=20,
        tie_word_embeddings=True,
    )
    theirs = transformers.LlamaForCausalLM(config).to(dtype).eval()
    names = {
        "model.embed_tokens.weight": ours.embedding.weight,
        "model.norm.weight": ours.norm.weight,
    }
    for i, block in enumerate(ours.blocks):
        attention, network, layer = (
            block.attention,
            block.feed_forward,
            f"model.layers.{i}",
        )
        names |= {
            f"{layer}.self_attn.q_proj.weight": halves(attention.query.weight, 4),
            f"{layer}.self_attn.k_proj.weight": halves(attention.key.weight, 2),
            f"{layer}.self_attn.v_proj.weight": attention.value.weight,
            f"{layer}.self_attn.o_proj.weight": attention.output.weight,
            f"{layer}.mlp.gate_proj.weight": network.gate.weight,
            f"{layer}.mlp.up_proj.weight": network.up.weight,
            f"{layer}.mlp.down_proj.weight": network.output.weight,
            f"{layer}.input_layernorm.weight": block.attention_norm.weight,
            f"{layer}.post_attention_layernorm.weight": block.feed_forward_norm.weight,
        }
    # Theirs computes the angles of rotary positions in float32, also in float64.
    assert_same_logits(ours, theirs, names, dtype, at_least=1e-6)


def halves(weight, n_heads):
    """Reorder a head's rows as theirs turns them: all first ones of a pair first."""
    rows = weight.unflatten(0, (n_heads, -1, 2))  # (n_heads, d_k / 2, 2, d_model)
    return rows.transpose(1, 2).flatten(0, 2)


def assert_same_logits(ours, theirs, names, dtype, at_least=0.0):
    own = dict(theirs.named_parameters())
    assert own.keys() == names.keys()
    for name, value in names.items():
        own[name].data.copy_(value)
    ids = token_ids(2, 13)
    with torch.no_grad():
        logits = ours(ids)
        difference = largest_difference(logits, theirs(ids).logits)
    assert logits.std() > 0.5
    tolerance = max(TOLERANCE[dtype], at_least)
    assert difference < tolerance * logits.abs().max().item()
