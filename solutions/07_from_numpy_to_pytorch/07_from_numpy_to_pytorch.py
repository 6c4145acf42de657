# %% [markdown]
# # From NumPy to PyTorch
#
# **Who computes the gradients?**
#
# After this lesson you can
#
# - turn NumPy code into PyTorch;
# - let PyTorch compute gradients, and recognise what silently makes them go wrong;
# - put parameters into a module, so that they are trained, saved and moved with it;
# - write the training loop, and train a model with it;
# - in *Going further*: train on only eight words, read the loop in PyTorch's words, say which
#   tensors share memory, measure a gradient, and write Adam.
#
# **About 75 minutes, and 80 more in *Going further*.** You need lessons 01, 02 and 05.

# %%
from autograder import check

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from course_lib import figures

# %% [markdown]
# ## A question to carry through the lesson
#
# Here is the smallest model there is: a single parameter, w. It reads a 2, guesses w · 2,
# and should have said 7. **Go back from the loss, one value at a time**, and then take a
# few steps.

# %%
alt = "From w to the loss and back: each gradient is the one to its right times one number."
figures.backward_pass(1.5, 2.0, 7.0, learning_rate=0.05, alt=alt)

# %% [markdown]
# A **gradient** says how fast the loss changes with a value. Each gradient came from the
# one to its right by a single multiplication, and a step against the gradient of w made
# the loss smaller. Going back like this is called **backpropagation**.
#
# For one layer of self-attention these boxes fill a page (lesson 02, *Backwards*, for those
# who like it), and the Transformer of *Attention Is All You Need* has 18 attention layers.
# **Who computes its gradients, and how does the model learn from them?**

# %%
w = torch.tensor(1.5, requires_grad=True)
loss = (w * 2 - 7) ** 2
loss.backward()
print("The gradient of w:", w.grad.item())
assert w.grad.item() == -16

# %% [markdown]
# PyTorch draws the boxes while it computes, and goes back through them when you ask. By
# the end of this lesson a small model will spell *attention* backwards, and you will watch
# how the word comes into being. PyTorch computes its gradients; you write the step and the
# training loop.

# %% [markdown]
# ## Tensors and arrays
#
# A **tensor** is PyTorch's array. Shapes, broadcasting, `@` and most indexing work as they do
# in NumPy, but a few names differ:
#
# | NumPy | PyTorch |
# |---|---|
# | `axis=-1, keepdims=True` | `dim=-1, keepdim=True` |
# | `np.concatenate`, `np.stack` | `torch.cat`, `torch.stack` |
# | `np.swapaxes(x, -1, -2)` | `x.mT`, or `x.transpose(-1, -2)` |
# | `x.astype(np.float64)` | `x.double()` |
# | `x.copy()` | `x.detach().clone()` (why `detach`: *Two experiments*) |
# | `np.where(mask, x, -np.inf)` | `x.masked_fill(~mask, -torch.inf)` |

# %%
torch.set_num_threads(1)  # the fastest for tensors as small as ours
print("NumPy:", np.array([0.1]).dtype, " PyTorch:", torch.tensor([0.1]).dtype)

# %% [markdown]
# NumPy stores Python's floats in 64 bits and PyTorch in 32, which takes half the memory and
# is much faster on a GPU. (What it costs is in *How many digits?*, in *Going further*.)

# %% [markdown]
# ## Who computes the gradients?
#
# PyTorch records every operation on a tensor with `requires_grad=True`, and on its results.
# The record is called the **graph**, and the boxes of the first picture are a small one.
# `backward()` goes through it from the end and applies the chain rule at each step. This is
# **automatic differentiation**, or autograd.
#
# Now for the whole of attention. In PyTorch, the lines from lesson 01 turn into these:


# %%
def attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return the output (..., n, d_v) and the weights (..., n, m)."""
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


# %% [markdown]
# And its gradients? They take one more line. `torch.autograd.grad(y, xs)` returns the
# gradients of y instead of putting them into `grad`:

# %%
torch.manual_seed(0)
vectors = torch.randn(5, 6, requires_grad=True)  # five words
output, _ = attention(vectors, vectors, vectors)  # three paths that meet in vectors
loss = output.square().sum()
print(loss)  # grad_fn: the operation that made it
(gradient,) = torch.autograd.grad(loss, [vectors])
print("a number for each of", tuple(vectors.shape), "numbers:", tuple(gradient.shape))
assert gradient.shape == vectors.shape and gradient.abs().min() > 0

# %% [markdown]
# That is half the answer to our question: autograd computes them. `vectors` was used three
# times, and what came back along the three paths was added up, as the chain rule asks.
# (*Measure a gradient*, in *Going further*, compares autograd with lesson 02.)

# %% [markdown]
# ## Two experiments
#
# In both, w is 3, so the derivative of w² is 6. First, `backward` is called twice:

# %%
w = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    (w**2).backward()

# %% [markdown]
# **Predict:** what is `w.grad` now?
#
# - [x] 12
# - [ ] 9
# - [ ] 6

# %%
print(w.grad.item())
assert w.grad.item() == 12

# %% [markdown]
# `backward` **adds** to what `grad` already holds. In training, the examples come in
# **batches**, a few at a time, with a call of `backward` and a step for each. So before each
# batch somebody has to set the gradients back to zero, and in PyTorch that is you (with
# `optimizer.zero_grad()`). If you forget, there is no error: each step uses the sum of the
# gradients of all batches so far.
#
# The second experiment cuts the graph. `detach()`, `.item()` and `torch.tensor(…)` return
# numbers without it, so PyTorch takes them for constants.

# %% [markdown]
# **Predict:** w is still 3. What is the gradient of `w * w.detach()`?
#
# - [ ] 6
# - [x] 3
# - [ ] 0

# %%
w = torch.tensor(3.0, requires_grad=True)
(with_a_cut,) = torch.autograd.grad(w * w.detach(), w)
print(with_a_cut.item())
assert with_a_cut == 3

# %% [markdown]
# Half of the gradient is missing, and again there is no error (only
# `torch.tensor` warns). These are **two silent
# traps**. (A cut is useful if you mean it: a program that collects losses for a plot keeps
# `loss.item()`, because `loss` would keep its whole graph in memory.)

# %% [markdown]
# ## What is the loss?
#
# You can get gradients, but gradients of what? At each position, the model that spells
# backwards gives 26 **logits**, one number for each letter. A softmax turns them into
# probabilities, of which the loss reads a single one: p, the probability of the *right*
# letter. It costs −ln p, which is the same as ln(1/p):

# %%
for p in (1, 1 / 26, 1 / 1000):
    print(f"p = {p:.3f} costs {np.log(1 / p):.2f}")

# %% [markdown]
# To be sure and right costs nothing; to be sure and wrong can cost any amount. The mean over
# all positions is the **cross-entropy**, the loss on which nearly all language models are
# trained (lesson 10). PyTorch's `cross_entropy` does it all, from the logits on. A model that
# knows nothing gives each of 26 letters the probability 1/26, so its loss is ln 26 = 3.26.
# (*Picking one number per position*, in *Going further*, computes it step by step.)

# %% [markdown]
# ## From a gradient to a step
#
# A gradient says in which direction the loss grows fastest. **Gradient descent** goes the
# other way: it subtracts the gradient times a number, the **learning rate**. With batches
# drawn at random it is called *stochastic* gradient descent, or SGD.
#
# A model has many parameters. From here on we keep them in a dictionary, by name, and
# their gradients too.

# %% [markdown]
# ### Exercise: sgd_step
#
# Make one step. Return new tensors; don't modify the old ones.
#
# <details><summary>Hint 1</summary>
#
# If the loss grows with a parameter, should the parameter become larger or smaller?
#
# </details>
# <details><summary>Hint 2</summary>
#
# A dictionary comprehension goes through `parameters.items()`. The gradients have the same
# names, perhaps in another order: find them by name. Which operator would overwrite the
# caller's tensor?
#
# </details>

# %%
from course_lib.nn.first_steps import sgd_step  # exercise

# %%
check(sgd_step)

# %% [markdown]
# An object that makes such steps is called an **optimizer**; PyTorch's is
# `torch.optim.SGD`.

# %% [markdown]
# ## Modules
#
# Where do the parameters of a model live? In a **module**: an object that knows its
# parameters by name. Here is your attention as a module. Its `__init__` draws the
# parameters (an `nn.Parameter` is a tensor that requires a gradient), and its `forward`
# uses them. You call a module like a function, and it calls `forward`. (If you have never
# written a class: `__init__` runs once, when you make the object, `self` is the object
# itself, and `super().__init__()` prepares what every module needs.)


# %%
class SelfAttention(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        size, scale = (d_model, d_model), d_model**-0.5
        self.w_q = nn.Parameter(torch.randn(size) * scale)
        self.w_k = nn.Parameter(torch.randn(size) * scale)
        self.w_v = nn.Parameter(torch.randn(size) * scale)

    def forward(self, x: Tensor) -> Tensor:
        output, self.weights = attention(x @ self.w_q, x @ self.w_k, x @ self.w_v)
        return output


# %% [markdown]
# When a module gets an `nn.Parameter` as an attribute, it **registers** it under that
# name. A module inside a module is registered too, with all its parameters.
# `nn.Sequential` calls modules one after another, and `nn.Linear(4, 2)` has a bias and a
# matrix, which is stored transposed:

# %%
layer = nn.Sequential(SelfAttention(4), nn.Linear(4, 2))
print({name: tuple(p.shape) for name, p in layer.named_parameters()})

# %% [markdown]
# What is registered goes with the module. An optimizer trains what `layer.parameters()` lists,
# `layer.to("cuda")` moves it to a GPU, and `layer.state_dict()` returns it as a dictionary
# that can be saved to a file. (A trap is in *What follows a module*, in *Going further*.)

# %% [markdown]
# ## The loop
#
# You have all the parts, and only the loop is missing before the model can spell.
# **Training** repeats three things for each batch: set the gradients to zero, compute them,
# make a step. One pass through all batches is an **epoch**.
#
# Your loop will serve any model and any optimizer: both come in as functions. Here are the
# smallest ones. The model is one number, w, and so is a batch. The loss is (w − batch)², its
# gradient is 2 (w − batch), and a quarter of that takes w halfway to the batch. (Like
# `backward`, `pull` *adds* its gradient to those that come in.)


# %%
def pull(parameters: dict, batch: float, gradients: dict) -> tuple[float, dict]:
    error = parameters["w"] - batch
    return error.item() ** 2, {"w": gradients["w"] + 2 * error}


def halfway(parameters: dict, gradients: dict, state: None) -> tuple[dict, None]:
    return {"w": parameters["w"] - 0.25 * gradients["w"]}, state


# %% [markdown]
# Now one call of each, with w = 0 and the batch 4:

# %%
at_zero, zeros = {"w": torch.tensor(0.0)}, {"w": torch.tensor(0.0)}
loss, gradients = pull(at_zero, 4.0, zeros)
after_batch, _ = halfway(at_zero, gradients, None)
print("loss:", loss, " gradient:", gradients["w"].item())
print("after the step: w =", after_batch["w"].item())
assert (loss, gradients["w"], after_batch["w"]) == (16, -8, 2)

# %% [markdown]
# As in a relay, w = 2 goes on to the next batch. If that is 8, its loss is (2 − 8)² = 36, its
# own gradient −12, and the step arrives at w = 5. So for the batches 4 and 8, your function
# will return w = 5, the state None and the losses 16 and 36. It gets `pull` as
# `gradient_of` and `halfway` as `step`:
#
# | function | returns | in PyTorch |
# |---|---|---|
# | (made by you) | gradients of zero | `optimizer.zero_grad()` |
# | `gradient_of(parameters, batch, gradients)` | the loss, and `gradients` plus those of the batch | `loss.backward()` |
# | `step(parameters, gradients, state)` | new parameters, new state | `optimizer.step()` |
#
# The `state` is what an optimizer remembers: for gradient descent nothing, so it is None.

# %% [markdown]
# ### Exercise: train_epoch
#
# Go through the batches once, and make a step for each. Return what arrives at the end, the
# newest parameters and the newest state, and the list of losses.
#
# <details><summary>Hint 1</summary>
#
# Write down the calls for the batches 4 and 8, in order. What comes out of the first call of
# `step` and goes into the second call of `gradient_of`? And what else comes out of it?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `{name: torch.zeros_like(p) for name, p in parameters.items()}` are gradients of zero. How
# often do you need them?
#
# </details>

# %%
from course_lib.nn.training_loop import train_epoch  # exercise

# %%
check(train_epoch)

# %% [markdown]
# Training takes many epochs, and what the first returns goes into the second. With the same
# two batches, w goes on from 5 to 6.25, with the losses 1 and 12.25.
#
# Which w is better, 5 or 6.25? The batches cannot say, since w was pulled towards them. So
# after each epoch the model is tested on **held-out** data, on which it is never trained.
# Suppose that the held-out batch is the number 5: then the held-out losses are (5 − 5)² = 0
# and (6.25 − 5)² = 1.5625. The first epoch was better, and `train` returns *its* w. (*Only
# eight words*, in *Going further*, shows where this helps, and where it doesn't.)

# %% [markdown]
# Our model will have *dropout*: in **training mode** it sets some numbers, chosen at random,
# to 0 (and scales up the others), so that no single number becomes indispensable. In
# **evaluation mode**, the one for held-out data, it drops nothing. (`model.train()` and
# `model.eval()` switch between them.)
#
# So the function for held-out losses is `loss_of(parameters, batch, training)`. It returns a
# batch's loss, and `training` is False in evaluation mode.

# %% [markdown]
# ### Exercise: train
#
# Train for some epochs, each a call of your `train_epoch`. Return the best parameters, and
# for each epoch its mean loss and its held-out loss. (Of the seven arguments, you know the
# first four. The state is None at first.)
#
# <details><summary>Hint 1</summary>
#
# Begin with one epoch: a call, and a mean over the batches and over the held-out ones. Then
# put the loop around it: what must the second `train_epoch` get, and from where?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Before you append a new held-out loss to the list, compare it: what must it be lower than,
# for its parameters to be the best so far? What about the first one?
#
# </details>

# %%
from course_lib.nn.training_loop import train  # exercise

# %%
check(train)

# %% [markdown]
# ## Attention, backwards
#
# The model reads words of nine letters, as numbers 0 … 25. `nn.Embedding(26, d_model)` is a
# table with a learned row for each letter; a learned vector for the position is added
# (lesson 05). Your attention lets each position attend to all of them, and a linear layer
# turns what it fetched into 26 logits.


# %%
class Reverser(nn.Module):
    def __init__(self, d_model: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(26, d_model)
        self.positions = nn.Parameter(torch.randn(9, d_model))
        self.dropout = nn.Dropout(0.1)
        self.attention = SelfAttention(d_model)
        self.logits = nn.Linear(d_model, 26)

    def forward(self, letters: Tensor) -> Tensor:
        x = self.embedding(letters) + self.positions  # (..., 9, d_model)
        return self.logits(self.attention(self.dropout(x)))


# %% [markdown]
# The three functions that `train` wants come next: `gradient_of`, `loss_of` and `step`. The
# first two share this one, in which `functional_call` runs the model with parameters that
# you hand it instead of its own, and `flatten` makes one row of logits for each target:

# %%
from torch.func import functional_call
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
model = Reverser()


def mean_loss(parameters: dict[str, Tensor], batch: tuple, training: bool) -> Tensor:
    """Return the cross-entropy of a batch, with its graph."""
    letters, targets = batch
    model.train(training)
    logits = functional_call(model, parameters, (letters,))  # (batch, 9, 26)
    return cross_entropy(logits.flatten(0, 1), targets.flatten())


# %% [markdown]
# **Watch for the traps:** where is something detached, and why? (A method whose name ends in
# `_`, such as `requires_grad_`, changes its tensor in place.)


# %%
def gradient_of(parameters: dict, batch: tuple, gradients: dict) -> tuple[float, dict]:
    leaves = {name: p.detach().requires_grad_() for name, p in parameters.items()}
    loss = mean_loss(leaves, batch, training=True)
    loss.backward()
    return loss.item(), {name: gradients[name] + p.grad for name, p in leaves.items()}


def loss_of(parameters: dict, batch: tuple, training: bool) -> float:
    with torch.no_grad():
        return mean_loss(parameters, batch, training).item()


def step(parameters: dict, gradients: dict, state: None) -> tuple[dict, None]:
    return sgd_step(parameters, gradients, learning_rate=0.5), state


# %% [markdown]
# `detach` gives a tensor with the same numbers and no past, so `requires_grad_()` leaves
# yours alone. These are the **leaves** of a new graph: tensors that no recorded operation
# made. Under `torch.no_grad()` nothing is recorded.
#
# The data are 40 batches of 16 words, each of nine random letters; 500 more words are held
# out. The target is the same word backwards.


# %%
def draw_words(count: int) -> tuple[Tensor, Tensor]:
    """Return words (count, 9) of random letters, 0 … 25, and the same backwards."""
    letters = torch.randint(26, (count, 9))
    return letters, letters.flip(-1)


batches, held_out = [draw_words(16) for _ in range(40)], [draw_words(500)]
start = {name: p.detach().clone() for name, p in model.named_parameters()}
print("loss before training:", round(loss_of(start, held_out[0], False), 1))
assert 3.2 < loss_of(start, held_out[0], False) < 3.6

# %% [markdown]
# That is near ln 26, as it should be for a model that knows nothing. If it is far off before
# the first step, something is wrong already.
#
# Now **watch a word come into being**. `spell` shows what the model writes for a word; here
# it is asked before training, and after every ten batches of the first epoch:


# %% tags=["nbval-ignore-output"]
def spell(word: str, parameters: dict[str, Tensor]) -> str:
    """Return what the model writes for a word of nine letters."""
    letters = torch.tensor([ord(letter) - ord("a") for letter in word])
    model.eval()
    with torch.no_grad():
        logits = functional_call(model, parameters, (letters,))
    return "".join(chr(ord("a") + i) for i in logits.argmax(dim=-1).tolist())


torch.manual_seed(1)  # makes the dropout repeatable
now = start
print("before training: ", spell("attention", now))
for first in range(0, 40, 10):
    now, _, _ = train_epoch(gradient_of, now, batches[first : first + 10], step, None)
    print(f"after {first + 10} batches:", spell("attention", now))
assert sum(map(str.__eq__, spell("attention", now), "noitnetta")) > 6
assert spell("attention", start) != "noitnetta"

# %% [markdown]
# That is your loop at work, forty steps of it. Nobody showed the model this word: all that
# it reads in training is random letters. Now train for all six epochs:

# %% tags=["nbval-ignore-output"]
torch.manual_seed(1)
best, losses, held_out_losses = train(
    gradient_of, start, batches, step, loss_of, held_out, epochs=6
)
print("in training:", [round(loss, 3) for loss in losses])
print("held out:   ", [round(loss, 3) for loss in held_out_losses])
assert min(held_out_losses) < 0.05  # we got 0.002

# %% [markdown]
# (The losses in training are higher: they are means over a whole epoch, with dropout.)
#
# And it isn't only *attention*. **Type your own word**, of exactly nine letters from a to z
# (any other gives an error):


# %%
my_word = "crocodile"  # type your own
for word in (my_word, "gradients", "parameter", "attention"):
    print(word, "→", spell(word, best))
assert spell("attention", best) == "attention"[::-1]

# %% [markdown]
# Here are the weights of your attention for the last of these words, as `forward` stored
# them in `self.weights`:

# %%
alt = "Each letter attends to its mirror image: the first to the last, and so on."
figures.attention_weights(model.attention.weights.numpy(), word, word, alt=alt)

# %% [markdown]
# The first position attends to the last letter, the second to the last but one, and so on.
# In lesson 05, *Backwards, by hand*, somebody had to think out the parameters of a head that
# turns *stressed* into *desserts*. Here **nobody built the head**, and nobody told the model
# what to attend to: gradients found that out in at most 240 steps.

# %% [markdown]
# ## In three lines
#
# - Autograd records what is done with tensors and applies the chain rule.
# - Gradients add up until somebody sets them to zero, and a cut in the graph is silent.
# - Training is a short loop: zero, gradients, step; and after each epoch, held-out data say
#   which parameters are the best so far.
#
# **What you can read now:** PyTorch's tutorial *Learn the Basics*; nanoGPT's `train.py`.
#
# **An open question:** each position of our model has learned which position to attend to. But
# in a translation, the order of the words differs from sentence to sentence. What then?
# Lesson 08.

# %% [markdown]
# ## Going further
#
# Nine sections follow, and no later lesson needs them. Read *Only eight words* if you train
# models, *The same loop in PyTorch's words*, *A step in place* and *What follows a module* if
# you write PyTorch, *Picking one number per position* if you write losses, *How many digits?*
# and *Who shares with whom?* if you move arrays between NumPy and PyTorch, *Measure a gradient*
# if you write a `backward` of your own, and *Adam* if you want to know the optimizer that
# trains nearly every Transformer.

# %% [markdown]
# ## Only eight words
#
# Train the same model again, from the start, but on only **eight words**, and for 60 epochs.
#
# **Predict:** where is its loss on held-out words after the last epoch?
#
# - [x] clearly above 3.4
# - [ ] near 3.4, as before training
# - [ ] clearly below 3.4

# %%
letters, targets = batches[0]
few = [(letters[:8], targets[:8])]  # one batch of eight words
torch.manual_seed(1)
_, of_few, of_others = train(
    gradient_of, start, few, step, loss_of, held_out, epochs=60
)
curves = {"training": of_few, "held out": of_others}
print({name: round(values[-1]) for name, values in curves.items()})
assert of_few[-1] < 1.5 < 5 < of_others[-1]  # we got 0.7 and 6
assert int(np.argmin(of_others)) < 5

# %% [markdown]
# Both losses, epoch by epoch:

# %%
alt = "Within 60 epochs the training loss falls below 1; held out it rises above 5."
figures.curves(range(1, 61), curves, xlabel="epoch", ylabel="loss", alt=alt)

# %% [markdown]
# That is **overfitting**. The eight words are being memorised, and what helps with them
# ("words whose third letter is e have an a as their seventh") is wrong for most others. The
# model is sure of itself and wrong. The training loss doesn't show that, but the held-out
# loss does. Your loop returned the parameters for which it is lowest:

# %% tags=["nbval-ignore-output"]
best_epoch = int(np.argmin(of_others)) + 1
print(f"lowest held-out loss: {min(of_others):.2f}, after epoch {best_epoch}")
assert min(of_others) > np.log(26)

# %% [markdown]
# Even that "best" model is no better than one that knows nothing, at 3.26. Returning the best
# protects you from training for too long, but not from having too few words.
#
# And be honest with the lowest of sixty held-out losses: the held-out words *chose* the
# epoch, so it is a little too good. A loss that is to be reported comes from a third set, the
# **test set**, by which nothing was chosen.

# %% [markdown]
# ## The same loop in PyTorch's words
#
# This is how you will meet the training loop in other people's programs. The optimizer
# holds the module's parameters and changes them in place, the gradients are in `grad`,
# and two calls switch the modes. (`load_state_dict` copies numbers into a module.)

# %%
import copy

theirs = Reverser()
theirs.load_state_dict(start)
optimizer = torch.optim.SGD(theirs.parameters(), lr=0.5)

# %% [markdown]
# Find each line of your own loop in it<span class="in-notebook"> before you run
# it</span>. (`theirs.eval()` returns the module itself.)

# %%
torch.manual_seed(1)
lowest, history = float("inf"), []
for _ in range(2):  # epochs
    theirs.train()
    for letters, targets in batches:
        optimizer.zero_grad()
        logits = theirs(letters)
        cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
    with torch.no_grad():
        logits = theirs.eval()(held_out[0][0])
    loss = cross_entropy(logits.flatten(0, 1), held_out[0][1].flatten())
    history.append(loss.item())
    if history[-1] < lowest:
        lowest, best_of_theirs = history[-1], copy.deepcopy(theirs.state_dict())

# %%
differences = [abs(history[epoch] - held_out_losses[epoch]) for epoch in range(2)]
print("the same held-out losses as yours:", max(differences) < 1e-3)
assert max(differences) < 1e-3

# %% [markdown]
# The parameters, batches, dropout and optimizer are the same, so the losses are too. (In later
# epochs they drift apart, because tiny rounding differences grow with each step.)

# %% [markdown]
# Why `deepcopy`? This optimizer changes the parameters in place, and the best ones have to
# be saved along the way. Here is the trap, with the `layer` of *Modules*:

# %%
snapshot = layer.state_dict()
before = layer[0].w_q[0, 0].item()
with torch.no_grad():
    layer[0].w_q += 1  # the training goes on

# %% [markdown]
# **Predict:** what is `snapshot["0.w_q"][0, 0]` now?
#
# - [ ] the one before
# - [x] the one before, plus 1

# %%
print("difference:", round(snapshot["0.w_q"][0, 0].item() - before, 3))
assert snapshot["0.w_q"][0, 0].item() == layer[0].w_q[0, 0].item()

# %% [markdown]
# `state_dict()` copies nothing: its tensors share memory with the parameters, which are
# changed in place. To keep the numbers, `clone()` them, or `copy.deepcopy` the whole
# dictionary. Otherwise the "best" model is always the last one, and nobody notices. (Your
# loop needs no copy, because `sgd_step` returns new tensors and leaves the old ones alone.)

# %% [markdown]
# Look at the loop once more. What would happen if `zero_grad` came between `backward` and
# `step`? What if `eval()` were missing?

# %%
optimizer.zero_grad()
print("gradients:", {p.grad for p in theirs.parameters()})
assert all(p.grad is None for p in theirs.parameters())

# %% [markdown]
# `zero_grad` sets `grad` to None, and `step` skips such parameters, so nothing would be
# learned, and no error would say so. Without `eval()` the held-out losses would include
# dropout.
#
# The course's translators are trained by `course_lib/nn/training/loop.py`. It has much
# more around it (a progress bar, several processes, a way to resume), but in its
# `train_step` you will find the lines above. There `zero_grad` comes last, which is still
# between two steps.

# %% [markdown]
# ## Picking one number per position
#
# From each row of log-probabilities, the loss takes the entry of the right letter. Here are
# three positions and five letters, of which 4, 0 and 2 are right:

# %%
logits, right = torch.randn(3, 5), torch.tensor([4, 0, 2])
log_p = logits.log_softmax(dim=-1)

# %% [markdown]
# NumPy's users would try an index first.
#
# **Predict:** what is the shape of `log_p[:, right]`?
#
# - [ ] (3, 5)
# - [ ] (3,), one number per position
# - [x] (3, 3)

# %%
print(tuple(log_p[:, right].shape))
assert log_p[:, right].shape == (3, 3)

# %% [markdown]
# `[:, right]` takes these columns from *every* row, but each row needs an index of its
# own. That is what `gather` is for, like NumPy's `take_along_axis`: `x.gather(dim, index)`
# picks, along one axis, the entries that `index` names, and its result has the shape of
# `index`.

# %% [markdown]
# ### Exercise: gather_log_probabilities
#
# Return the log-probability of the right token at each position.
#
# <details><summary>Hint 1</summary>
#
# Which axis of `log_p` do the token ids index? `index` must have as many axes as `log_p`:
# how many has `targets`?
#
# </details>
# <details><summary>Hint 2</summary>
#
# `.unsqueeze(-1)` adds an axis of length 1 at the end, and `.squeeze(-1)` takes it away.
# What would `.squeeze()`, without an axis, do to a batch of one sequence?
#
# </details>

# %%
from course_lib.nn.first_steps import gather_log_probabilities  # exercise

# %%
check(gather_log_probabilities)

# %% [markdown]
# The mean of these numbers, with a minus sign, is the cross-entropy, which PyTorch computes
# from the logits:

# %%
mean = -gather_log_probabilities(log_p, right).mean()
print("equal to PyTorch's:", torch.allclose(mean, cross_entropy(logits, right)))
assert torch.allclose(mean, cross_entropy(logits, right))

# %% [markdown]
# ## How many digits?
#
# PyTorch's float32 has 24 significant bits, and NumPy's float64 has 53. Is the difference
# ever seen?
#
# **Predict:** what is 1 + 0.00000001 in float32?
#
# - [x] 1
# - [ ] 1.0000001
# - [ ] 1.00000001

# %%
one = torch.tensor(1.0)
print("float32:", (one + 1e-8).item(), " float64:", (one.double() + 1e-8).item())
assert (one + 1e-8).item() == 1.0 < (one.double() + 1e-8).item()

# %% [markdown]
# The next float32 above 1 is $1.2 \cdot 10^{-7}$ away, and a sum is rounded to the
# nearest one. Training copes with that, but a test that compares nine digits doesn't, so
# our tests use float64. PyTorch never mixes the two in a matrix product (in its message,
# *double* is float64 and *float* is float32):

# %%
try:
    torch.eye(2, dtype=torch.float64) @ torch.eye(2)
except RuntimeError as error:
    print(error)

# %% [markdown]
# ## Who shares with whom?
#
# An array and a tensor can share memory, and then a change to one is a change to both.
# There are two ways from NumPy to PyTorch:

# %%
array = np.zeros(3)
a, b = torch.from_numpy(array), torch.tensor(array)

# %% [markdown]
# **Predict:** after `array[0] = 5`, which tensors hold the 5?
#
# - [ ] both
# - [ ] b, from `torch.tensor`
# - [x] a, from `torch.from_numpy`
# - [ ] neither

# %%
array[0] = 5
print("a:", a.tolist(), " b:", b.tolist())
assert a[0] == 5 and b[0] == 0

# %% [markdown]
# `torch.tensor` always copies. `from_numpy` shares the memory, and so does a plain `.numpy()` on
# the way back. (It refuses a tensor with a graph, and one on a GPU, which has to be copied to
# the CPU first.) And `x.double()` is x itself if x has that type already.
#
# Within PyTorch, slices, `.mT` and `.view` (which changes the shape) give **views**:
# other ways to read the same memory. What about `.reshape`?

# %%
table = torch.arange(6.0).reshape(2, 3)
rows, columns = table.reshape(6), table.mT.reshape(6)

# %% [markdown]
# **Predict:** after `table[0, 0] = 100`, which of the two start with 100?
#
# - [x] rows only
# - [ ] columns only
# - [ ] both
# - [ ] neither

# %%
table[0, 0] = 100
print("rows:", rows.tolist(), "\ncolumns:", columns.tolist())
assert rows[0] == 100 and columns[0] == 0

# %% [markdown]
# `reshape` returns a view where it can and a copy where it cannot: read by columns, the
# numbers of `table` are not in the order of its memory. `view` refuses to copy, so it is
# the better choice if you mean to write to the tensor:

# %%
try:
    table.mT.view(6)
except RuntimeError as error:
    print(str(error).split(".")[0])

# %% [markdown]
# Every tensor also has a **device**: the processor whose memory holds it. All tensors in
# a computation have to be on the same device, and `.to(device)` moves them there. On a
# computer without a GPU there is only `cpu`.

# %% tags=["nbval-ignore-output"]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
moved = torch.ones(2, 3).to(device)
print("now on", moved.device)

# %% [markdown]
# ## Measure a gradient
#
# Can we believe autograd? Here are its gradients of self-attention, next to the ones that
# lesson 02 derives by hand (optional there):

# %%
from course_lib.self_attention import self_attention_gradients

torch.manual_seed(0)
sizes = (5, 6), (6, 4), (6, 4), (6, 3)  # x, w_q, w_k and w_v
inputs = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in sizes]
x, w_q, w_k, w_v = inputs
output, _ = attention(x @ w_q, x @ w_k, x @ w_v)
loss = output.square().sum()  # its gradient with respect to output is 2 * output
automatic = torch.autograd.grad(loss, inputs)
# NumPy insists on numbers without the graph, which detach() returns.
arrays = [each.detach().numpy() for each in (*inputs, 2 * output)]
by_hand = self_attention_gradients(*arrays)
gaps = [np.abs(a.numpy() - b).max() for a, b in zip(automatic, by_hand, strict=True)]
print("x, w_q, w_k and w_v, all equal:", bool(max(gaps) < 1e-12))
assert max(gaps) < 1e-12

# %% [markdown]
# Next, ask `softmax_jacobian` from lesson 01 (optional there). Autograd gives one row
# of it at a time, the gradient of one weight; `retain_graph=True` keeps the graph for the
# next row.

# %%
from course_lib.attention import softmax_jacobian

scores = torch.tensor([2.0, 1.0, -1.0], dtype=torch.float64, requires_grad=True)
weights = scores.softmax(dim=-1)
jacobian = [torch.autograd.grad(p, scores, retain_graph=True)[0] for p in weights]
gap = np.abs(torch.stack(jacobian).numpy() - softmax_jacobian(weights.detach().numpy()))
print("equal to the Jacobian of lesson 01:", bool(gap.max() < 1e-12))
assert gap.max() < 1e-12

# %% [markdown]
# Two derivations may share a mistake, but one test needs no derivation at all:
# **measure**. Move one number in x up by a small step, then down by the same step, and
# see how far the loss moves. This is a **central difference**:
#
# $$\frac{\partial f}{\partial x_i} \approx
# \frac{f(x + h\,e_i) - f(x - h\,e_i)}{2h}$$
#
# ($e_i$ is 1 at position i and 0 elsewhere, and h is the step.) This is slow, because
# each number takes two runs. But it doesn't use the chain rule, so it cannot repeat our
# mistakes there.

# %% [markdown]
# ### Exercise: numerical_gradient
#
# Measure the gradient of any function, in float64, so that you can test what autograd computes.
#
# <details><summary>Hint 1</summary>
#
# How many calls of f does a tensor of six numbers need? What must x hold when it is the
# second number's turn?
#
# </details>
# <details><summary>Hint 2</summary>
#
# x may have any number of axes: `x.reshape(-1)` turns them into one, and the result can
# get the shape of x back at the end. Adding to x a tensor that is 0 everywhere except at
# one position leaves x itself alone.
#
# </details>

# %%
from course_lib.nn.training_loop import numerical_gradient  # exercise

# %%
check(numerical_gradient)

# %% [markdown]
# Use it on attention itself: the gradient with respect to the 20 numbers of the queries.
# But how small should the step be?

# %%
q, k, v = (each.detach() for each in (x @ w_q, x @ w_k, x @ w_v))
q.requires_grad_()
(grad_q,) = torch.autograd.grad(attention(q, k, v)[0].square().sum(), q)


def loss_of_queries(q: Tensor) -> float:
    """Return the loss as a number."""
    return attention(q, k, v)[0].square().sum().item()


# %% [markdown]
# **Predict:** which step brings the measured gradient closest to autograd's?
#
# - [ ] 0.1
# - [x] 0.00001
# - [ ] 0.0000000000001

# %%
step_sizes = [10.0**-power for power in range(1, 14, 2)]
by_step = []
for h in step_sizes:
    measured = numerical_gradient(loss_of_queries, q.detach(), h)
    by_step.append((measured - grad_q).abs().max().item())
scales = {"xlabel": "step", "ylabel": "gap", "logarithmic": True}
print("the step with the smallest gap:", step_sizes[int(np.argmin(by_step))])
assert np.argmin(by_step) == 2
assert by_step[2] < 1e-8 < 1e-4 < min(by_step[0], by_step[-1])

# %% [markdown]
# All seven steps, on logarithmic scales:

# %%
alt = "The gap falls with the step down to 1e-5, and rises again for smaller steps."
figures.curves(step_sizes, {"gap": by_step}, **scales, alt=alt)

# %% [markdown]
# Read it from the right. A step that is ten times smaller makes the gap a hundred times
# smaller, because what central differences miss is proportional to the step's square.
# Below 0.00001 another error takes over: the two values of f agree in more and more of
# their sixteen digits, and only the remaining digits are left for their difference.
# Float32, with its seven digits, would leave even fewer, which is why you were asked for
# float64.
#
# `torch.autograd.gradcheck` is this test, ready-made.

# %% [markdown]
# ## A step in place
#
# The two traps of *Two experiments* are silent. A third is a change in place, such as `+=`. This one PyTorch often
# notices:

# %%
p = torch.ones(3, requires_grad=True)
y = p.exp()
y += 1
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error).split(":")[0])

# %% [markdown]
# The derivative of exp is exp itself, so the graph had stored `y`, and `y` was
# overwritten. With `y = y + 1` all is well, because it makes a new tensor.
#
# But a training step *is* a change in place, to a recorded tensor. PyTorch refuses that
# too, unless you tell it not to record the change. (It calls p a *leaf*: a tensor that no
# recorded operation made.)

# %%
p = torch.ones(3, requires_grad=True)
p.exp().sum().backward()
try:
    p -= 0.1 * p.grad
except RuntimeError as error:
    print(error)
with torch.no_grad():
    p -= 0.1 * p.grad
print("1 − 0.1 · e =", round(p[0].item(), 4))
assert abs(p[0].item() - (1 - 0.1 * np.e)) < 1e-6

# %% [markdown]
# Many write `p = p - 0.1 * p.grad` instead, which looks like the same step. The line
# raises no error, but now `p` is a *result* of other tensors, so the next `backward`
# leaves `p.grad` at None, and the second step fails.
#
# PyTorch's optimizers change the parameters in place, too, and arrive at the same numbers as
# your `sgd_step`:

# %%
w = nn.Parameter(torch.tensor([1.0, -2.0]))
w.grad = torch.tensor([4.0, 0.5])
new = sgd_step({"w": w.detach()}, {"w": w.grad}, learning_rate=0.1)["w"]
torch.optim.SGD([w], lr=0.1).step()
print("the same step:", torch.allclose(new, w))
assert torch.allclose(new, w)

# %% [markdown]
# ## What follows a module
#
# Here are two modules with three matrices each, in two kinds of lists:


# %%
class InAList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.matrices = [nn.Parameter(torch.randn(4, 4)) for _ in range(3)]


class InAParameterList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.matrices = nn.ParameterList(torch.randn(4, 4) for _ in range(3))


# %% [markdown]
# **Predict:** how many parameters does `parameters()` list for each?
#
# - [ ] 3 from each
# - [ ] 0 from each
# - [ ] 3 from `InAList`, 1 from `InAParameterList`
# - [x] 0 from `InAList`, 3 from `InAParameterList`

# %%
for kind in (InAList, InAParameterList):
    print(kind.__name__, len(list(kind().parameters())))
assert len(list(InAList().parameters())) == 0
assert len(list(InAParameterList().parameters())) == 3

# %% [markdown]
# A Python list hides its parameters. The model still runs, and its loss may even fall,
# since other parameters learn, but these three keep the numbers that they were drawn
# with. Nor do they follow the module to another dtype, or into its `state_dict`:

# %%
layer = nn.Linear(4, 2).to(torch.float64)
hidden = InAList().to(torch.float64)
print(layer.weight.dtype, "but", hidden.matrices[0].dtype)
print(list(layer.state_dict()), "but", list(hidden.state_dict()))
assert layer.weight.dtype == torch.float64 and not hidden.state_dict()

# %% [markdown]
# Not everything that belongs to a module is trained, though. A mask or a table of sinusoids
# should move to the GPU with it, but an optimizer must not change it. For this there are
# **buffers**: `register_buffer` registers a tensor that is not a parameter.

# %% [markdown]
# ## Adam
#
# One learning rate was enough for our small model. In most models it is hard to choose one
# for all numbers: large gradients make the steps too long, and small ones make them too
# short to matter. So **Adam** (Kingma and Ba, 2015) divides each number's step by the usual size of its gradients. It keeps two moving
# averages, $m$ of the gradients and $v$ of their squares, and at each step retains the
# shares $\beta_1$ and $\beta_2$ of them. With the gradient $g$,
#
# $$m \leftarrow \beta_1\, m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2\, v + (1 - \beta_2)\, g^2$$

# %% [markdown]
# From each parameter, Adam then subtracts
#
# $$\text{learning rate} \cdot \frac{\hat m}{\sqrt{\hat v} + \varepsilon}
# \qquad \hat m = \frac{m}{1 - \beta_1^s} \qquad \hat v = \frac{v}{1 - \beta_2^s}$$
#
# Both averages start at 0 and are too small at first, which the hats correct; s counts
# the steps. ε prevents a division by 0.

# %% [markdown]
# ### Exercise: adam_step
#
# Make one step for one tensor. What Adam remembers comes in as `state` and goes out
# again. With **weight decay**, which also pulls each parameter towards 0, Adam is called
# AdamW.
#
# <details><summary>Hint 1</summary>
#
# What is s in the very first step, 0 or 1? What would the divisions give with the other?
# And which is remembered, m or m̂?
#
# </details>
# <details><summary>Hint 2</summary>
#
# Weight decay subtracts learning_rate · weight_decay · parameter, and has no part in m and v.
# Is the parameter in that product the old or the new one?
#
# </details>

# %%
from course_lib.nn.first_steps import adam_step  # exercise

# %%
check(adam_step)

# %% [markdown]
# Two parameters are 0. Their gradients are 0.001 and 1000, and the learning rate is 0.1.
#
# **Predict:** how far does Adam's first step move them?
#
# - [ ] the first by 0.0001, the second by 100
# - [ ] the first by 100, the second by 0.0001
# - [x] both by 0.1

# %%
small_and_large = torch.tensor([0.001, 1000.0])
nothing = torch.zeros(2), torch.zeros(2), 0
after, _ = adam_step(torch.zeros(2), small_and_large, nothing, learning_rate=0.1)
print([round(number, 4) for number in after.tolist()])
assert torch.allclose(after, torch.tensor(-0.1), atol=1e-5)

# %% [markdown]
# In the first step $\hat m$ is the gradient and $\sqrt{\hat v}$ its absolute value, so
# their ratio is 1 or −1. Here are twenty steps, next to PyTorch's AdamW:

# %%
w = nn.Parameter(torch.tensor([1.0, -2.0]))
optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.01)
copy_of_w, state = w.detach().clone(), nothing
for number in range(20):
    w.grad = torch.tensor([number - 3.0, 1.0 / (number + 1)])
    optimizer.step()
    copy_of_w, state = adam_step(copy_of_w, w.grad, state, 0.1, weight_decay=0.01)
print("same parameters:", torch.allclose(copy_of_w, w, atol=1e-5))
assert torch.allclose(copy_of_w, w, atol=1e-5)

# %% [markdown]
# It makes steps for the model that spells backwards, too. This time there is a state to
# remember, one for each parameter, and your `train` carries it from step to step:


# %%
def step_of_adam(parameters: dict, gradients: dict, state: dict | None) -> tuple:
    if state is None:
        state = {name: (0 * p, 0 * p, 0) for name, p in parameters.items()}
    results = {
        name: adam_step(p, gradients[name], state[name], learning_rate=0.01)
        for name, p in parameters.items()
    }
    new = {name: p for name, (p, _) in results.items()}
    return new, {name: each for name, (_, each) in results.items()}


# %% tags=["nbval-ignore-output"]
torch.manual_seed(1)
_, _, of_adam = train(
    gradient_of, start, batches, step_of_adam, loss_of, held_out, epochs=6
)
print("Adam:            ", [round(loss, 3) for loss in of_adam])
print("gradient descent:", [round(loss, 3) for loss in held_out_losses])
assert min(of_adam) < 0.05  # we got 0.001

# %% [markdown]
# Here both learn the task. In a deep Transformer, plain gradient descent falls behind,
# for reasons still debated: nearly all Transformers are trained with Adam or a relative
# of it.
#
# **What you can read now:** Kingma and Ba (2015), *Adam*, algorithm 1; Loshchilov and Hutter
# (2019), *Decoupled Weight Decay Regularization*.
