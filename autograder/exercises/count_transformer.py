"""Cases and misconceptions of ``count_transformer``."""

import numpy as np

from autograder import Exercise
from course_lib.nn.functional import count_transformer

exercise = Exercise(
    count_transformer,
    lesson="09_transformer",
    minutes=15,
    difficulty=2,
    library=(
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoderLayer",
        "torch.nn.TransformerDecoderLayer",
        "torch.nn.MultiheadAttention",
        "course_lib.nn.transformer.Transformer",
        "course_lib.nn.layers.TransformerLayer",
    ),
)


@exercise.spec
def spec(n_layers, d_model, d_ff, vocab_size=0):
    shapes = [(vocab_size, d_model)]
    for attentions in (1, 2):  # of a layer of the encoder, then of the decoder
        for _ in range(n_layers):
            shapes += [(d_model, d_model), (d_model,)] * 4 * attentions
            shapes += [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]
            shapes += [(d_model,), (d_model,)] * (attentions + 1)  # gains and biases
        shapes += [(d_model,), (d_model,)]  # of the norm at the end
    total = 0
    for shape in shapes:
        numbers = 1
        for size in shape:
            numbers *= size
        total += numbers
    return total


@exercise.usual
def usual(rng):
    d_model, d_ff, vocab_size = rng.integers([20, 50, 100], [30, 90, 200]).tolist()
    return 3, d_model, d_ff, vocab_size


@exercise.case("One layer each, with d_model = 2 and d_ff = 3, has 134 parameters")
def small_example_by_hand(student, rng):
    # Attention 4 · (4 + 2) = 24, feed-forward 6 + 3 + 6 + 2 = 17, norm 2 + 2 = 4:
    # 24 + 17 + 2 · 4 + 4 in the encoder, 2 · 24 + 17 + 3 · 4 + 4 in the decoder.
    student.expect(student(1, 2, 3), 53 + 81)
    student.agrees(1, *rng.integers(2, 20, size=2).tolist())


@exercise.case(
    "The base model, as PyTorch builds it, has 44,140,544 without the embedding"
)
def base_model(student, rng):
    student.expect(student(6, 512, 2048), 44_140_544)


@exercise.case("The embedding adds d_model parameters per token, once")
def embedding_counted(student, rng):
    student.expect(student(6, 512, 2048, 37_000), 63_084_544)
    student.agrees(2, 12, 20, 30)


@exercise.case("`d_ff` may be any length, also shorter than d_model")
def any_d_ff(student, rng):
    for d_model, d_ff in rng.integers(1, 40, size=(3, 2)).tolist():
        student.agrees(2, d_model, d_ff)


@exercise.case("A layer more in both stacks adds what one layer of each has")
def one_layer_more(student, rng):
    d_model, d_ff = rng.integers([5, 20], [15, 60]).tolist()
    more = student(4, d_model, d_ff) - student(3, d_model, d_ff)
    shares = 12 * (d_model**2 + d_model), 2 * (2 * d_model * d_ff + d_ff + d_model)
    expected = sum(shares) + 5 * 2 * d_model
    student.expect(more, expected, what="count for 4 layers − count for 3")


@exercise.case("Sizes of 1 leave one number of each kind", visible=False)
def sizes_of_one(student, rng):
    # Per attention 8, feed-forward 4, norm 2; then the two norms at the ends.
    student.expect(student(1, 1, 1), (8 + 4 + 2 * 2) + (16 + 4 + 3 * 2) + 2 * 2)
    student.expect(student(1, 1, 1, 1), 47)


@exercise.case("Counts beyond 32 bits are exact")
def large_models(student, rng):
    student.agrees(96, 12_288, 49_152, 50_257)
    n_layers, vocab_size = rng.integers((70, 40_000), (99, 60_000)).tolist()
    student.agrees(n_layers, 12_288, 49_152, vocab_size)


@exercise.fine_point("The count is an `int`, also where it is computed with `/`")
def count_is_whole(student, rng):
    for sizes in rng.integers(2, 40, size=(2, 4)).tolist():
        count = student(*sizes)
        student.expect(
            isinstance(count, int | np.integer), True, what="whether it is an int"
        )


@exercise.variants
def variants(
    n_layers,
    d_model,
    d_ff,
    vocab_size=0,
    *,
    projections=(4, 4),  # matrices and biases
    matrices=2,
    network_biases="d_ff + d_model",
    middle="d_ff",
    networks=2,
    attentions=(1, 2),
    norms=(2, 3),
    norm="gain and bias",
    last=2,
    embeddings=1,
    besides="nothing",
    layers="n_layers each",
):
    if middle == "exchanged":
        d_model, d_ff = d_ff, d_model
    width = 4 * d_model if middle == "4 · d_model" else d_ff
    if middle == "d_model":
        width = d_model
    attention = projections[0] * d_model**2 + projections[1] * d_model
    network = matrices * d_model * width
    network += {
        "none": 0,
        "d_model": d_model,
        "2 · d_model": 2 * d_model,
        "2 · d_ff": 2 * width,
    }.get(network_biases, width + d_model)
    per_norm = {"gain": d_model, "two numbers": 2}.get(norm, 2 * d_model)
    depth = 1 if layers == "one each" else n_layers
    both = sum(attentions) * attention + networks * network + sum(norms) * per_norm
    total = depth * both
    one_encoder = attentions[0] * attention + network + norms[0] * per_norm
    encoder = n_layers * one_encoder
    total = {
        "of the encoder": encoder,
        "of the decoder": total - encoder,
        "encoder twice": 2 * encoder,
        "half of them": total // 2,
    }.get(layers, total)
    if layers in ("of the encoder", "of the decoder"):
        last = min(last, 1)
    total += last * per_norm * (depth if layers == "with last norms" else 1)
    total += embeddings * vocab_size * d_model
    total += {
        "bias of the logits": vocab_size,
        "positions": 512 * d_model,
        "norm of the embedding": per_norm,
    }.get(besides, 0)
    if besides == "thousands":
        return round(total, -3)
    if besides == "32 bits":
        return (total + 2**31) % 2**32 - 2**31
    return f"{total:,}" if besides == "text" else total


exercise.option(
    "no_biases_in_attention",
    "Your projections of the attentions have no biases.",
    "What is added behind each of the four products?",
    why="The paper writes QWᵢ without a bias, PyTorch's layer has one.",
    projections=(4, 0),
)
exercise.option(
    "no_bias_of_the_output_projection",
    "Your attentions have three biases each.",
    "Which of the four projections has a bias?",
    why="The bias of q, k and v is one vector in PyTorch, and the fourth is elsewhere.",
    projections=(4, 3),
)
exercise.option(
    "one_bias_per_attention",
    "Your attentions have one bias each.",
    "Which of the four projections has a bias?",
    why="A formula such as 4 · d² + d gives one bias to all four.",
    projections=(4, 1),
)
exercise.option(
    "output_projection_forgotten",
    "Your attentions have three projections each.",
    "What joins the heads at the end?",
    why="q, k and v are counted, and what comes after the softmax is forgotten.",
    projections=(3, 3),
)
exercise.option(
    "one_projection_per_attention",
    "Your attentions have one projection each.",
    "What is made of a token before the scores, and what joins the heads at the end?",
    why="d² + d is one linear layer, and an attention has several.",
    projections=(1, 1),
)
exercise.option(
    "every_head_whole",
    "Your attentions have 25 projections each, as if each of eight heads had three "
    "whole ones.",
    "How long are the vectors of one head, and how many heads are there?",
    why="The paper's W_i^Q have an index per head; that they are narrow is said after "
    "them.",
    projections=(25, 25),
)
exercise.option(
    "cross_attention_forgotten",
    "Your layers of encoder and decoder have one attention each.",
    "To what does a token of the target attend, besides the target?",
    why="A model such as GPT has one attention per layer, and is called a decoder.",
    attentions=(1, 1),
)
exercise.option(
    "two_attentions_everywhere",
    "Your layers have four attentions in a pair of encoder and decoder.",
    "To what does a token of the source attend?",
    why="The layer of the decoder is counted and taken for both.",
    attentions=(2, 2),
)
exercise.option(
    "one_matrix_in_feed_forward",
    "Your feed-forward networks have one matrix each.",
    "What does `feed_forward` take besides x, b_1 and b_2?",
    why="w_2 looks like w_1 turned, and is counted with it.",
    matrices=1,
)
exercise.option(
    "no_biases_in_feed_forward",
    "Your feed-forward networks have no biases.",
    "What does `feed_forward` take besides x, w_1 and w_2?",
    why="2 · d_model · d_ff is the rule of thumb.",
    network_biases="none",
)
exercise.option(
    "b_1_forgotten",
    "Your feed-forward networks have d_model numbers in biases.",
    "What does `feed_forward` take besides x, w_1 and w_2?",
    why="Only the output's bias is remembered.",
    network_biases="d_model",
)
exercise.option(
    "b_1_as_long_as_b_2",
    "Your feed-forward networks have 2 · d_model numbers in biases.",
    "How long is the vector to which b_1 is added?",
    why="All other vectors of a layer have d_model numbers.",
    network_biases="2 · d_model",
)
exercise.option(
    "b_2_as_long_as_b_1",
    "Your feed-forward networks have 2 · d_ff numbers in biases.",
    "How long is the vector to which b_2 is added?",
    why="Both biases are counted like the first.",
    network_biases="2 · d_ff",
)
exercise.option(
    "d_ff_four_times_d_model",
    "Your feed-forward networks are 4 · d_model long in the middle, whatever d_ff is.",
    "What does the argument `d_ff` change?",
    why="The paper's 2048 is 4 · 512, and most models keep to that.",
    middle="4 · d_model",
)
exercise.option(
    "d_ff_ignored",
    "Your feed-forward networks are d_model long in the middle, whatever d_ff is.",
    "What does the argument `d_ff` change?",
    why="All other matrices of a layer are square.",
    middle="d_model",
)
exercise.option(
    "sizes_exchanged",
    "Your d_model and d_ff have changed roles.",
    "Which of the two is the second argument?",
    why="In many configurations d_ff stands first.",
    middle="exchanged",
)
exercise.option(
    "no_feed_forward",
    "Your layers have no feed-forward networks.",
    "Which parts has a layer besides attention and norms?",
    why="Attention is all you need, says the title.",
    networks=0,
)
exercise.option(
    "feed_forward_in_one_stack",
    "Your count has one feed-forward network for a layer of each stack together.",
    "Which parts has a layer of the encoder, and which a layer of the decoder?",
    why="The decoder is taken for the encoder's layer with another attention.",
    networks=1,
)
exercise.option(
    "feed_forward_for_each_attention",
    "Your count has three feed-forward networks for a layer of each stack together.",
    "How many networks follow the two attentions of a decoder's layer?",
    why="A network is counted behind every attention.",
    networks=3,
)
exercise.option(
    "one_norm_per_layer",
    "Your layers have one norm each.",
    "After which parts of a layer does a norm stand?",
    why="One `self.norm` per layer, used several times: bentrevett/pytorch-seq2seq, "
    "pull request 100.",
    norms=(1, 1),
)
exercise.option(
    "two_norms_in_the_decoder",
    "Your count lacks 2 · d_model numbers for a layer of each stack together, as many "
    "as one norm has.",
    "How many sublayers has a layer of the decoder, and what follows each of them?",
    why="The encoder's layer is counted and taken for both, plus one attention.",
    norms=(2, 2),
)
exercise.option(
    "three_norms_in_the_encoder",
    "Your count has six norms for a layer of each stack together.",
    "How many sublayers has a layer of the encoder?",
    why="The decoder's layer is counted and taken for both, less one attention.",
    norms=(3, 3),
)
exercise.option(
    "norms_of_layers_forgotten",
    "Your layers have no norms.",
    "What follows each sublayer?",
    why="Norms hold few numbers, and rules of thumb leave them out.",
    norms=(0, 0),
)
exercise.option(
    "norms_of_the_attentions_only",
    "Your count has three norms for a layer of each stack together.",
    "Which sublayers has a layer besides its attentions?",
    why="A norm is counted with each attention, and the network gets none.",
    norms=(1, 2),
)
exercise.option(
    "norms_with_gain_alone",
    "Your norms have d_model parameters each.",
    "What does `layer_norm` take besides x?",
    why="RMSNorm has a gain alone.",
    norm="gain",
)
exercise.option(
    "norms_of_two_numbers",
    "Your norms have two parameters each.",
    "How long are the gain and the bias of `layer_norm`?",
    why="'A gain and a bias' sounds like two numbers.",
    norm="two numbers",
)
exercise.option(
    "last_norms_forgotten",
    "Your stacks lack the norms that stand at their ends.",
    "What follows the last layer of the encoder, and of the decoder?",
    why="In the paper each stack ends with its last layer; PyTorch's nn.Transformer "
    "norms once more.",
    last=0,
)
exercise.option(
    "one_last_norm",
    "Your two stacks have one norm at the end together.",
    "What follows the last layer of the encoder, and of the decoder?",
    why="Only the decoder's result goes on to the scores; the memory is normed before "
    "it is read, too.",
    last=1,
)
exercise.option(
    "last_norms_in_every_layer",
    "Your norms at the end of a stack are counted once per layer.",
    "How often does a stack end?",
    why="They are written into the bracket that n_layers multiplies.",
    layers="with last norms",
)
exercise.option(
    "one_layer_of_each",
    "Your count has one layer in each stack, whatever n_layers is.",
    "What does the argument `n_layers` change?",
    why="The count for one layer is finished, and the factor is forgotten.",
    layers="one each",
)
exercise.option(
    "n_layers_shared",
    "Your layers are counted half: as if n_layers were those of both stacks together.",
    "How many layers has the decoder, if n_layers is 6?",
    why="'n_layers of the model' is read as a sum.",
    layers="half of them",
)
exercise.option(
    "decoder_forgotten",
    "You count the layers of the encoder alone, and at most one norm at an end.",
    "What else is there besides the encoder?",
    why="BERT is an encoder, and most counts on the web are of BERT.",
    layers="of the encoder",
)
exercise.option(
    "encoder_forgotten",
    "You count the layers of the decoder alone, and at most one norm at an end.",
    "What else is there besides the decoder?",
    why="GPT is called a decoder, and most models of today have nothing else.",
    layers="of the decoder",
)
exercise.option(
    "encoder_counted_twice",
    "Your layers of the decoder have as many parameters as those of the encoder.",
    "What has a layer of the decoder that one of the encoder lacks?",
    why="Two stacks with equally many layers are taken for twins.",
    layers="encoder twice",
)
exercise.option(
    "embedding_forgotten",
    "Your count has no embedding.",
    "What does the argument `vocab_size` change?",
    why="The number that one remembers is the number of layers.",
    embeddings=0,
)
exercise.option(
    "two_embeddings",
    "Your embedding is counted twice.",
    "How many tables does the docstring speak of?",
    why="One for the source and one for the target is the usual picture.",
    embeddings=2,
)
exercise.option(
    "three_embeddings",
    "Your embedding is counted three times.",
    "How many tables does the docstring speak of?",
    why="Source, target and output have one each in most code: nn.Embedding twice, "
    "nn.Linear once.",
    embeddings=3,
)
exercise.option(
    "bias_for_the_scores",
    "Your count has vocab_size parameters too many: a bias for each token's logit.",
    "How many rows and columns has the table, and is anything added behind it?",
    why="nn.Linear(d_model, vocab_size) has a bias unless told otherwise.",
    besides="bias of the logits",
)
exercise.option(
    "learned_positions",
    "Your count has 512 · d_model parameters too many, such as those of learned "
    "positions.",
    "What does the docstring say about positions?",
    why="BERT learns 512 positions.",
    besides="positions",
)
exercise.option(
    "norm_of_the_embedding",
    "Your count has one norm too many outside the layers.",
    "Where do norms stand, by the docstring?",
    why="BERT has a norm behind its embedding.",
    besides="norm of the embedding",
)
exercise.option(
    "rounded_to_thousands",
    "Your count is rounded to thousands.",
    "How exact is an integer?",
    why="Sizes of models are given in millions.",
    besides="thousands",
)
exercise.option(
    "beyond_32_bits",
    "Your large counts are wrong by multiples of 2³².",
    "Which integers do 32 bits hold?",
    why="dtype=np.int32, or torch.int, is the usual 'int'.",
    besides="32 bits",
)
exercise.option(
    "count_as_text",
    "Your count is a text.",
    "Which type does the docstring promise?",
    why="An f-string puts in the commas of thousands.",
    besides="text",
)
