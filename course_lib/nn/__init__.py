"""The course's layers in PyTorch: the same ideas as in ``course_lib``, to be trained.

They run where their device says: on the GPU if there is one, else on the CPU. Results
equal those of the NumPy references and of PyTorch's own layers.
"""

from course_lib.nn.attention import MultiHeadAttention, attention
from course_lib.nn.device import best_device
from course_lib.nn.transformer import LearnedPositions, SinusoidalPositions

__all__ = [
    "LearnedPositions",
    "MultiHeadAttention",
    "SinusoidalPositions",
    "attention",
    "best_device",
]
