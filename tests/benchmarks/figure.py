"""One measured figure beside its peer, both from the same run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure. ``ratio`` is the peer's value divided by ours: above 1 we are ahead."""

    name: str
    value: float
    unit: str
    peer: str
    peer_value: float
    ratio: float


def against(name: str, value: float, unit: str, peer: str, peer_value: float) -> Figure:
    return Figure(name, value, unit, peer, peer_value, peer_value / value)
