"""Cases and misconceptions of ``count_transformer``."""

from autograder import Exercise
from course_lib.nn.functional import count_transformer

exercise = Exercise(
    count_transformer,
    lesson="08_transformer",
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


def counted(
    n_layers,
    d_model,
    d_ff,
    vocab_size,
    *,
    attention=lambda d: 4 * (d * d + d),
    feed=lambda d, f: 2 * d * f + f + d,
    norm=lambda d: 2 * d,
    norms=(2, 3),
    attentions=(1, 2),
    last=2,
    n_embeddings=1,
):
    """Count; the defaults are right, and each misconception changes one of them."""
    layers = 0
    for n_attentions, n_norms in zip(attentions, norms, strict=True):
        layers += n_attentions * attention(d_model) + n_norms * norm(d_model)
        layers += feed(d_model, d_ff)
    ends = last * norm(d_model) + n_embeddings * vocab_size * d_model
    return n_layers * layers + ends


@exercise.misconception(
    "Your projections of the attentions have matrices only.",
    "What is added behind each of the four products?",
    why="The paper writes QWᵢ without a bias, PyTorch's layer has one.",
)
def no_biases_in_attention(n_layers, d_model, d_ff, vocab_size=0):
    def attention(d):
        return 4 * d * d

    return counted(n_layers, d_model, d_ff, vocab_size, attention=attention)


@exercise.misconception(
    "Your layers of the decoder have one attention each.",
    "To what does a token of the target attend, besides the target?",
    why="A model such as GPT has one attention per layer, and is called a decoder.",
)
def cross_attention_forgotten(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, attentions=(1, 1))


@exercise.misconception(
    "Your stacks lack the norms that stand at their ends.",
    "What follows the last layer of the encoder, and of the decoder?",
    why="In the paper each stack ends with its last layer; PyTorch's nn.Transformer "
    "norms once more.",
)
def last_norms_forgotten(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, last=0)


@exercise.misconception(
    "Your two stacks have one norm at the end together, not one each.",
    "What follows the last layer of the encoder, and of the decoder?",
    why="Only the decoder's result goes on to the scores; the memory is normed before "
    "it is read, too.",
)
def one_last_norm(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, last=1)


@exercise.misconception(
    "Your feed-forward parts have matrices only.",
    "What does `feed_forward` take besides x, w_1 and w_2?",
    why="2 · d_model · d_ff is the rule of thumb.",
)
def no_biases_in_feed_forward(n_layers, d_model, d_ff, vocab_size=0):
    def feed(d, f):
        return 2 * d * f

    return counted(n_layers, d_model, d_ff, vocab_size, feed=feed)


@exercise.misconception(
    "Nothing of yours has a bias: attentions and feed-forward parts are matrices only.",
    "Which vectors are added behind a product, in either part?",
    why="'12 d_model² per layer' is how models are estimated.",
)
def matrices_only(n_layers, d_model, d_ff, vocab_size=0):
    def attention(d):
        return 4 * d * d

    def feed(d, f):
        return 2 * d * f

    parts = {"attention": attention, "feed": feed}
    return counted(n_layers, d_model, d_ff, vocab_size, **parts)


@exercise.misconception(
    "Both biases of your feed-forward parts have d_model numbers.",
    "How long is the vector to which b_1 is added?",
    why="All other vectors of a layer have d_model numbers.",
)
def b_1_as_long_as_b_2(n_layers, d_model, d_ff, vocab_size=0):
    def feed(d, f):
        return 2 * d * f + 2 * d

    return counted(n_layers, d_model, d_ff, vocab_size, feed=feed)


@exercise.misconception(
    "Your feed-forward parts are 4 · d_model long in the middle, whatever d_ff is.",
    "Where is the argument `d_ff` used in your code?",
    why="The paper's 2048 is 4 · 512, and most models keep to that.",
)
def d_ff_four_times_d_model(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, 4 * d_model, vocab_size)


@exercise.misconception(
    "Your attentions have three projections each.",
    "What joins the heads at the end?",
    why="q, k and v are counted, and what comes after the softmax is forgotten.",
)
def output_projection_forgotten(n_layers, d_model, d_ff, vocab_size=0):
    def attention(d):
        return 3 * (d * d + d)

    return counted(n_layers, d_model, d_ff, vocab_size, attention=attention)


@exercise.misconception(
    "Your attentions have eight heads, each with whole matrices for q, k and v.",
    "How long are the vectors of one head, and how many heads are there?",
    why="The paper's W_i^Q have an index per head; that they are narrow is said after "
    "them.",
)
def every_head_whole(n_layers, d_model, d_ff, vocab_size=0):
    def attention(d):
        return 8 * 3 * (d * d + d) + d * d + d

    return counted(n_layers, d_model, d_ff, vocab_size, attention=attention)


@exercise.misconception(
    "Your layers have one norm each.",
    "After which parts of a layer does a norm stand?",
    why="One `self.norm` per layer, used several times: bentrevett/pytorch-seq2seq, "
    "pull request 100.",
)
def one_norm_per_layer(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, norms=(1, 1))


@exercise.misconception(
    "Your layers of the decoder have two norms, like those of the encoder.",
    "How many parts has a layer of the decoder?",
    why="The encoder's layer is counted and taken for both, plus one attention.",
)
def two_norms_in_the_decoder(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, norms=(2, 2))


@exercise.misconception(
    "Your norms have d_model parameters each.",
    "What does `layer_norm` take besides x?",
    why="RMSNorm has a gain alone.",
)
def norms_with_gain_alone(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, norm=lambda d: d)


@exercise.misconception(
    "You count the layers of the encoder alone, and a norm at its end.",
    "What else is there besides the encoder?",
    why="BERT is an encoder, and most counts on the web are of BERT.",
)
def decoder_forgotten(n_layers, d_model, d_ff, vocab_size=0):
    only = {"attentions": (1,), "norms": (2,), "last": 1}
    return counted(n_layers, d_model, d_ff, vocab_size, **only)


@exercise.misconception(
    "Your embedding is counted three times.",
    "How many tables does the docstring speak of?",
    why="Source, target and output have one each in most code: nn.Embedding twice, "
    "nn.Linear once.",
)
def three_embeddings(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, n_embeddings=3)


@exercise.misconception(
    "Your embedding is counted twice.",
    "How many tables does the docstring speak of?",
    why="One for the source and one for the target is the usual picture.",
)
def two_embeddings(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size, n_embeddings=2)


@exercise.misconception(
    "Your count has vocab_size parameters too many: a bias for each token's score.",
    "How many rows and columns has the table, and is anything added behind it?",
    why="nn.Linear(d_model, vocab_size) has a bias unless told otherwise.",
)
def bias_for_the_scores(n_layers, d_model, d_ff, vocab_size=0):
    return counted(n_layers, d_model, d_ff, vocab_size) + vocab_size
