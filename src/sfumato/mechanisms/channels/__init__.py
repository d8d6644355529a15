"""Noise at the client: channels from true values to reports, by the names that surveys and the command line use."""

from fractions import Fraction
from typing import Any

from sfumato.errors import ParameterError
from sfumato.mechanisms.channels.base import Channel as Channel
from sfumato.mechanisms.channels.geometric import RoundedLaplace as RoundedLaplace
from sfumato.mechanisms.channels.geometric import TruncatedGeometric as TruncatedGeometric
from sfumato.mechanisms.channels.window import RandomizedResponse as RandomizedResponse
from sfumato.mechanisms.channels.window import SquareWave as SquareWave
from sfumato.privacy.loss import exact

CHANNELS: dict[str, type[Channel]] = {
    kind.name: kind for kind in (TruncatedGeometric, RandomizedResponse, RoundedLaplace, SquareWave)
}


def make_channel(name: str, size: int, epsilon: float | Fraction) -> Channel:
    """The channel with a name, for an axis of `size` values."""
    if not isinstance(name, str) or name not in CHANNELS:
        raise ParameterError(f"{name!r} is not a known mechanism; expected one of {', '.join(CHANNELS)}")
    return CHANNELS[name](size=size, epsilon=epsilon)


def parse_channel(spec: Any) -> Channel:
    """The channel that a file spells."""
    try:
        return make_channel(spec["mechanism"], spec["size"], exact(spec["epsilon"]))
    except (KeyError, TypeError) as error:
        raise ParameterError("the channel is incomplete; expected mechanism, size and epsilon") from error
