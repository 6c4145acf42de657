"""What is done before anything is computed or printed, on any machine."""

import codecs
import sys

# What an old code page of Windows lacks, to which output into files is encoded there.
IN_ASCII = str.maketrans(
    {
        **{"✓": "[ok]", "✗": "[no]", "○": "[open]", "→": "->", "←": "<-"},
        **{"−": "-", "–": "-", "—": "-", "…": "...", "·": "-", "×": "x"},
        **{"≤": "<=", "≥": ">=", "√": "sqrt", "●": "*", "⟨": "<", "⟩": ">"},
    }
)


def use_one_thread() -> None:
    """Make PyTorch compute in one thread, if it is imported.

    The tensors of the exercises have at most some hundred numbers: several threads
    spend their time waiting for each other, up to seven times as long on two cores.
    """
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def print_anywhere() -> None:
    """Make stdout and stderr write what their encoding lacks in other characters."""
    codecs.register_error("autograder", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None) or "utf-8"
        if hasattr(stream, "reconfigure") and not encoding.lower().startswith("utf"):
            stream.reconfigure(errors="autograder")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(IN_ASCII)
    return text.encode("ascii", "replace").decode("ascii"), error.end
