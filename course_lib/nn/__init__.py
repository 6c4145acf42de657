"""Attention, Transformer and recurrent translator in PyTorch, to be trained.

They run on the GPU if there is one, else on the CPU, unless ``device`` says otherwise.
Their results equal those of the NumPy references and of PyTorch's own layers.
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
