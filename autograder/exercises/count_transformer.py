"""Cases and misconceptions of ``count_transformer``."""

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
        student.expect_an_int(count)


exercise.edits(
    """
no_biases_in_attention: per_attention = 4 * d_model ** 2
  Your projections of the attentions have no biases.
  ? What is added behind each of the four products?
  # The paper writes QWᵢ without a bias, PyTorch's layer has one.
no_bias_of_the_output_projection: per_attention = 4 * d_model ** 2 + 3 * d_model
  Your attentions have three biases each.
  ? Which of the four projections has a bias?
  # The bias of q, k and v is one vector in PyTorch, and the fourth is elsewhere.
one_bias_per_attention: per_attention = 4 * d_model ** 2 + d_model
  Your attentions have one bias each.
  # A formula such as 4 · d² + d gives one bias to all four.
output_projection_forgotten: 4 * (d_model -> 3 * (d_model
  Your attentions have three projections each.
  ? What joins the heads at the end?
  # q, k and v are counted, and what comes after the softmax is forgotten.
one_projection_per_attention: per_attention = d_model ** 2 + d_model
  Your attentions have one projection each.
  ? What is made of a token before the scores, and what joins the heads at the end?
  # d² + d is one linear layer, and an attention has several.
every_head_whole: 4 * (d_model -> (8 * 3 + 1) * (d_model
  Your attentions have 25 projections each, as if each of eight heads had three whole
    ones.
  ? How long are the vectors of one head, and how many heads are there?
  # The paper's W_i^Q have an index per head; that they are narrow is said after them.
cross_attention_forgotten: 2 * per_attention -> per_attention
  Your layers of encoder and decoder have one attention each.
  ? To what does a token of the target attend, besides the target?
  # A model such as GPT has one attention per layer, and is called a decoder.
two_attentions_everywhere: n_layers * (per_attention -> n_layers * (2 * per_attention
  Your layers have four attentions in a pair of encoder and decoder.
  ? To what does a token of the source attend?
  # The layer of the decoder is counted and taken for both.
one_matrix_in_feed_forward: 2 * d_model * d_ff -> d_model * d_ff
  Your feed-forward networks have one matrix each.
  ? What does `feed_forward` take besides x, b_1 and b_2?
  # w_2 looks like w_1 turned, and is counted with it.
no_biases_in_feed_forward:  + d_ff + d_model ->
  Your feed-forward networks have no biases.
  ? What does `feed_forward` take besides x, w_1 and w_2?
  # 2 · d_model · d_ff is the rule of thumb.
b_1_forgotten: + d_ff + d_model -> + d_model
  Your feed-forward networks have d_model numbers in biases.
  # Only the output's bias is remembered.
b_1_as_long_as_b_2: + d_ff + d_model -> + 2 * d_model
  Your feed-forward networks have 2 · d_model numbers in biases.
  ? How long is the vector to which b_1 is added?
  # All other vectors of a layer have d_model numbers.
b_2_as_long_as_b_1: + d_ff + d_model -> + 2 * d_ff
  Your feed-forward networks have 2 · d_ff numbers in biases.
  ? How long is the vector to which b_2 is added?
  # Both biases are counted like the first.
d_ff_four_times_d_model: d_ff = 4 * d_model
  Your feed-forward networks are 4 · d_model long in the middle, whatever d_ff is.
  ? What does the argument `d_ff` change?
  # The paper's 2048 is 4 · 512, and most models keep to that.
d_ff_ignored: per_network = 2 * (d_model ** 2 + d_model)
  Your feed-forward networks are d_model long in the middle, whatever d_ff is.
  # All other matrices of a layer are square.
sizes_exchanged: d_model, d_ff = d_ff, d_model
  Your d_model and d_ff have changed roles.
  ? Which of the two is the second argument?
  # In many configurations d_ff stands first.
no_feed_forward:  + per_network => 
  Your layers have no feed-forward networks.
  ? Which parts has a layer besides attention and norms?
  # Attention is all you need, says the title.
feed_forward_in_one_stack: 2 * per_attention + per_network -> 2 * per_attention
  Your count has one feed-forward network for a layer of each stack together.
  ? Which parts has a layer of the encoder, and which a layer of the decoder?
  # The decoder is taken for the encoder's layer with another attention.
feed_forward_for_each_attention:
  | 2 * per_attention + per_network -> 2 * (per_attention + per_network)
  Your count has three feed-forward networks for a layer of each stack together.
  ? How many networks follow the two attentions of a decoder's layer?
  # A network is counted behind every attention.
one_norm_per_layer:
  | 2 * per_norm -> per_norm
  | 3 * per_norm -> per_norm
  Your layers have one norm each.
  ? After which parts of a layer does a norm stand?
  # One `self.norm` per layer, used several times: bentrevett/pytorch-seq2seq, pull
    request 100.
two_norms_in_the_decoder: 3 * per_norm -> 2 * per_norm
  Your count lacks 2 · d_model numbers for a layer of each stack together, as many as
    one norm has.
  ? How many sublayers has a layer of the decoder, and what follows each of them?
  # The encoder's layer is counted and taken for both, plus one attention.
three_norms_in_the_encoder: 2 * per_norm -> 3 * per_norm
  Your count has six norms for a layer of each stack together.
  ? How many sublayers has a layer of the encoder?
  # The decoder's layer is counted and taken for both, less one attention.
norms_of_layers_forgotten:
  | + 2 * per_norm ->
  | + 3 * per_norm ->
  Your layers have no norms.
  ? What follows each sublayer?
  # Norms hold few numbers, and rules of thumb leave them out.
norms_of_the_attentions_only:
  | 2 * per_norm -> per_norm
  | 3 * per_norm -> 2 * per_norm
  Your count has three norms for a layer of each stack together.
  ? Which sublayers has a layer besides its attentions?
  # A norm is counted with each attention, and the network gets none.
norms_with_gain_alone: per_norm = d_model
  Your norms have d_model parameters each.
  ? What does `layer_norm` take besides x?
  # RMSNorm has a gain alone.
norms_of_two_numbers: per_norm = 2
  Your norms have two parameters each.
  ? How long are the gain and the bias of `layer_norm`?
  # 'A gain and a bias' sounds like two numbers.
last_norms_forgotten: ) + per_norm => )
  Your stacks lack the norms that stand at their ends.
  ? What follows the last layer of the encoder, and of the decoder?
  # In the paper each stack ends with its last layer; PyTorch's nn.Transformer norms
    once more.
one_last_norm: 2 * per_norm) + per_norm -> 2 * per_norm)
  Your two stacks have one norm at the end together.
  # Only the decoder's result goes on to the scores; the memory is normed before it is
    read, too.
last_norms_in_every_layer:
  | 2 * per_norm) + per_norm -> 2 * per_norm + per_norm)
  | 3 * per_norm) + per_norm -> 3 * per_norm + per_norm)
  Your norms at the end of a stack are counted once per layer.
  ? How often does a stack end?
  # They are written into the bracket that n_layers multiplies.
one_layer_of_each: n_layers = 1
  Your count has one layer in each stack, whatever n_layers is.
  ? What does the argument `n_layers` change?
  # The count for one layer is finished, and the factor is forgotten.
n_layers_shared:
  | n_layers * => n_layers / 2 *
  | return int(encoder + decoder + vocab_size * d_model)
  Your layers are counted half: as if n_layers were those of both stacks together.
  ? How many layers has the decoder, if n_layers is 6?
  # 'n_layers of the model' is read as a sum.
decoder_forgotten: encoder + decoder -> encoder
  You count the layers of the encoder alone, and at most one norm at an end.
  ? What else is there besides the encoder?
  # BERT is an encoder, and most counts on the web are of BERT.
encoder_forgotten: encoder + decoder -> decoder
  You count the layers of the decoder alone, and at most one norm at an end.
  ? What else is there besides the decoder?
  # GPT is called a decoder, and most models of today have nothing else.
encoder_counted_twice: encoder + decoder -> 2 * encoder
  Your layers of the decoder have as many parameters as those of the encoder.
  ? What has a layer of the decoder that one of the encoder lacks?
  # Two stacks with equally many layers are taken for twins.
embedding_forgotten:  + vocab_size * d_model ->
  Your count has no embedding.
  ? What does the argument `vocab_size` change?
  # The number that one remembers is the number of layers.
two_embeddings: vocab_size * d_model -> 2 * vocab_size * d_model
  Your embedding is counted twice.
  ? How many tables does the docstring speak of?
  # One for the source and one for the target is the usual picture.
three_embeddings: vocab_size * d_model -> 3 * vocab_size * d_model
  Your embedding is counted three times.
  # Source, target and output have one each in most code: nn.Embedding twice,
    nn.Linear once.
bias_for_the_scores: vocab_size * d_model -> vocab_size * (d_model + 1)
  Your count has vocab_size parameters too many: a bias for each token's logit.
  ? How many rows and columns has the table, and is anything added behind it?
  # nn.Linear(d_model, vocab_size) has a bias unless told otherwise.
learned_positions: vocab_size * d_model -> (vocab_size + 512) * d_model
  Your count has 512 · d_model parameters too many, such as those of learned
    positions.
  ? What does the docstring say about positions?
  # BERT learns 512 positions.
norm_of_the_embedding: vocab_size * d_model -> vocab_size * d_model + per_norm
  Your count has one norm too many outside the layers.
  ? Where do norms stand, by the docstring?
  # BERT has a norm behind its embedding.
rounded_to_thousands: return round(encoder + decoder + vocab_size * d_model, -3)
  Your count is rounded to thousands.
  ? How exact is an integer?
  # Sizes of models are given in millions.
beyond_32_bits:
  | return torch.tensor(encoder + decoder + vocab_size * d_model).to(torch.int32).item()
  Your large counts are wrong by multiples of 2³².
  ? Which integers do 32 bits hold?
  # dtype=np.int32, or torch.int, is the usual 'int'.
count_as_text: return f'{encoder + decoder + vocab_size * d_model:,}'
  Your count is a text.
  ? Which type does the docstring promise?
  # An f-string puts in the commas of thousands.
""",
)
