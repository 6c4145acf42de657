"""One measured figure beside its peer, both from the same run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure. ``ratio`` says how often we are better than the peer: above 1 we are.

    peer : what it is measured against; without one its value and the ratio are None
    """

    name: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None


def against(name: str, value: float, unit: str, peer: str, peer_value: float) -> Figure:
    """Return a figure that should be small: a time, or a size."""
    return Figure(name, value, unit, peer, peer_value, peer_value / value)


def above(name: str, value: float, unit: str, peer: str, peer_value: float) -> Figure:
    """Return a figure that should be large: a throughput."""
    return Figure(name, value, unit, peer, peer_value, value / peer_value)
