# %% [markdown]
# # The exam
#
# One function, for scores that are not dot products. **About 20 minutes.** Each
# exercise is judged when you hand this notebook in.

# %%
import numpy as np

from autograder import check

# %% [markdown]
# ### Exercise: distance_scores
#
# Score each key by how near it is to each query.
#
# <details><summary>Hint 1</summary>
#
# Which axes do the queries and the keys need for all differences at once?
#
# </details>

# %%
from course_lib.private.exam import distance_scores  # exercise

# %%
check(distance_scores)

# %% [markdown]
# ## Before you hand it in
#
# Run all cells from top to bottom, save the notebook, and hand it in.
