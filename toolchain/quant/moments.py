"""What a layer has to reproduce: moments of its integer inputs and of its float sums."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from toolchain.ir import Array
from toolchain.ops.conv2d import Conv2D
from toolchain.ops.depthwise import DepthwiseConv2D
from toolchain.ops.fully_connected import FullyConnected

Layer = Conv2D | DepthwiseConv2D | FullyConnected
Matrix = NDArray[np.float64]

_ROWS = 256  # * 255**2 < 2**24


@dataclass(slots=True)
class Moments:
    """Sums over the positions of a layer: groups G, outputs a group O, taps a group K.

    An output is a weighted sum of K inputs of its group. A convolution and a fully connected layer
    are one group; each input channel of a depthwise convolution is one.

    Args:
        count: Positions seen.
        x: Sums of the centred input codes [G, K].
        xx: Sums of their products [G, K, K].
        z: Sums of the float results before the activation [G, O].
        zx: Sums of the products of results and codes [G, O, K].
    """

    count: int = 0
    x: Matrix = field(default_factory=lambda: np.zeros(()))
    xx: Matrix = field(default_factory=lambda: np.zeros(()))
    z: Matrix = field(default_factory=lambda: np.zeros(()))
    zx: Matrix = field(default_factory=lambda: np.zeros(()))

    def add(self, codes: Array, results: Array) -> None:
        """Take positions into account: centred codes [P, G, K] and float results [P, G, O].

        Blocks are so short that float32 holds the sums of products of codes exactly.
        """
        for start in range(0, len(codes), _ROWS):
            x = codes[start : start + _ROWS].transpose(1, 0, 2).astype(np.float32)
            z = results[start : start + _ROWS].transpose(1, 2, 0).astype(np.float32)
            self.count += x.shape[1]
            self.x = self.x + x.sum(axis=1, dtype=np.float64)
            self.xx = self.xx + x.transpose(0, 2, 1) @ x
            self.z = self.z + z.sum(axis=2, dtype=np.float64)
            self.zx = self.zx + z @ x

    @property
    def means(self) -> tuple[Matrix, Matrix]:
        """Mean code [G, K] and mean result [G, O]."""
        return self.x / self.count, self.z / self.count

    def covariances(self) -> tuple[Matrix, Matrix]:
        """Covariance of the codes [G, K, K], and of results with codes [G, O, K]."""
        x, z = self.means
        own = self.xx / self.count - x[:, :, None] * x[:, None, :]
        return own, self.zx / self.count - z[:, :, None] * x[:, None, :]


def positions(op: Layer, x: Array, results: Array, limit: int) -> tuple[Array, Array]:
    """Inputs [P, G, K] and results [P, G, O] of a layer, at most about `limit` even positions.

    Args:
        op: The layer.
        x: Centred codes of its input [N, ...], the sample axis being that of the operator.
        results: Sums with bias before the activation [N, ..., channels].
        limit: Positions wanted.
    """
    if isinstance(op, FullyConnected):
        rows = x.reshape(-1, 1, x.shape[-1])
        keep = slice(None, None, max(1, -(-len(rows) // limit)))
        return rows[keep], results.reshape(len(rows), 1, -1)[keep]
    taps = [values for _, _, values in op.window.taps(x, 0)]
    flat = [t.reshape(-1, t.shape[-1]) for t in taps]
    keep = slice(None, None, max(1, -(-len(flat[0]) // limit)))
    stacked = np.stack([t[keep] for t in flat], axis=1)  # [P, T, I]
    wanted = results.reshape(len(flat[0]), -1)[keep]
    if isinstance(op, DepthwiseConv2D):
        channels = stacked.shape[2]
        return stacked.transpose(0, 2, 1), wanted.reshape(len(wanted), channels, -1)
    return stacked.reshape(len(stacked), 1, -1), wanted[:, None, :]


def as_groups(op: Layer, w: Array, inputs: int) -> Matrix:
    """Weights of a layer as [G, O, K], in the order of `positions`.

    Args:
        op: The layer.
        w: Its weights in its own layout.
        inputs: Input channels.
    """
    if isinstance(op, DepthwiseConv2D):
        return w.reshape(-1, inputs, w.shape[3] // inputs).transpose(1, 2, 0).astype(np.float64)
    return w.reshape(1, len(w), -1).astype(np.float64)


def from_groups(op: Layer, groups: Matrix, shape: tuple[int, ...]) -> Matrix:
    """The inverse of as_groups."""
    if isinstance(op, DepthwiseConv2D):
        return groups.transpose(2, 0, 1).reshape(shape)
    return groups.reshape(shape)
