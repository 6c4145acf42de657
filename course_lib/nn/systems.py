"""Which translators there are, and how one is made again from plain data."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from course_lib.nn.recurrent_decoder import RecurrentSizes
from course_lib.nn.seq2seq import RecurrentTranslator
from course_lib.nn.transformer import Transformer, TransformerSizes


@dataclass(frozen=True)
class System:
    """One kind of translator.

    name : as on the command line
    sizes : makes its sizes, a frozen dataclass
    model : makes the translator with random parameters, of sizes and a device
    own : the sizes that make it this system
    widths : the sizes that are one number in the simplest case, d_model
    """

    name: str
    sizes: Callable[..., Any]
    model: Callable[..., nn.Module]
    own: Mapping[str, Any]
    widths: tuple[str, ...]

    def make(self, sizes: Mapping[str, Any], device: torch.device) -> nn.Module:
        """Make a translator with random parameters.

        sizes : what ``as_data`` gives; what is left out is as usual
        """
        return self.model(self.sizes(**{**self.own, **sizes}), device=device)

    def sizes_of(
        self,
        d_model: int | None = None,
        n_layers: int | None = None,
        dropout: float | None = None,
    ) -> dict[str, Any]:
        """Give the sizes by name that are to be unlike the usual ones.

        A Transformer's feed-forward parts are four times as wide as d_model. Raises
        ``ValueError`` for layers of a system that has no number of layers.
        """
        found: dict[str, Any] = {}
        if d_model is not None:
            found |= dict.fromkeys(self.widths, d_model)
        if self.name == "transformer":
            found |= {} if d_model is None else {"d_ff": 4 * d_model}
            found |= {} if n_layers is None else {"n_layers": n_layers}
        elif n_layers is not None:
            raise ValueError(f"n_layers={n_layers}: {self.name} always has one layer")
        return found | ({} if dropout is None else {"dropout": dropout})


def as_data(model: Any) -> dict[str, Any]:
    """Give the sizes of a translator as plain data, from which ``make`` makes it."""
    return asdict(model.sizes)


def _recurrent(name: str, attention: str) -> System:
    own = {"attention": attention}
    widths = ("d_embedding", "d_hidden")
    return System(name, RecurrentSizes, RecurrentTranslator, own, widths)


SYSTEMS = {
    system.name: system
    for system in (
        System("transformer", TransformerSizes, Transformer, {}, ("d_model",)),
        _recurrent("additive", "additive"),
        _recurrent("multiplicative", "multiplicative"),
        _recurrent("fixed", "none"),
    )
}
