# %% [markdown]
# # What is left of the formula of 2017?
#
# **About 75 minutes, and 40 more in *Going further*.**

# %%
from autograder import check

import numpy as np

# %% [markdown]
# ## Section qk_norm_scores

# %% [markdown]
# ### Exercise: qk_norm_scores
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.attention_changes import qk_norm_scores  # exercise

# %%
check(qk_norm_scores)

# %% [markdown]
# ## Section sink_attention

# %% [markdown]
# ### Exercise: sink_attention
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.attention_changes import sink_attention  # exercise

# %%
check(sink_attention)

# %% [markdown]
# ## Section stretched_frequencies

# %% [markdown]
# ### Exercise: stretched_frequencies
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.positions import stretched_frequencies  # exercise

# %%
check(stretched_frequencies)

# %% [markdown]
# ## Section latent_attention

# %% [markdown]
# ### Exercise: latent_attention
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.attention_changes import latent_attention  # exercise

# %%
check(latent_attention)

# %% [markdown]
# ## Section linear_attention

# %% [markdown]
# ### Exercise: linear_attention
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.linear_attention import linear_attention  # exercise

# %%
check(linear_attention)

# %% [markdown]
# ## In three lines

# %% [markdown]
# ## Going further

# %% [markdown]
# ## Section delta_rule

# %% [markdown]
# ### Exercise: delta_rule
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.linear_attention import delta_rule  # exercise

# %%
check(delta_rule)

# %% [markdown]
# ## Section route

# %% [markdown]
# ### Exercise: route
#
# Write it.
#
# <details><summary>Hint 1</summary>
#
# One.
#
# </details>
# <details><summary>Hint 2</summary>
#
# Two.
#
# </details>

# %%
from course_lib.routing import route  # exercise

# %%
check(route)

