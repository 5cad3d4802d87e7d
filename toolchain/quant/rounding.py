"""Integer weights that reproduce a layer's float results on real inputs, not its float weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolchain.quant.moments import Matrix, Moments

_SWEEPS = 4
_MAX_CODE = 127


@dataclass(frozen=True, slots=True)
class Rounded:
    """Codes [G, O, K] as whole numbers and their scales [G, O]."""

    codes: Matrix
    scales: Matrix


def best_weights(moments: Moments, weights: Matrix, damping: float) -> Matrix:
    """Real weights [G, O, K] of least squared error on the integer inputs.

    Ridge regression towards the given weights: they make up for part of what the layers before
    have lost. `damping` is the strength in units of the mean variance of a code.

    Args:
        moments: Of the layer.
        weights: Float weights times the input scale, [G, O, K].
        damping: Strength, above 0.
    """
    own, cross = moments.covariances()
    ridge = _ridge(own, damping)
    right = cross + ridge * weights
    left = own + ridge * np.eye(own.shape[1])
    return np.asarray(np.linalg.solve(left, right.transpose(0, 2, 1)).transpose(0, 2, 1))


def round_weights(
    moments: Moments, weights: Matrix, scales: Matrix, damping: float
) -> NDArray[np.float64]:
    """Codes [G, O, K] whose products with the inputs come closest to those of the weights.

    1. Column by column, nearest; the error so far moves into the columns not yet rounded, by the
       inverse of the covariance (optimal brain quantisation in a fixed order, as in GPTQ).
    2. Sweeps over single codes, from there and from the nearest codes: each goes to the whole
       number that is best given the others. Each output takes the better of the two results.

    Args:
        moments: Of the layer.
        weights: Real weights to round, times the input scale.
        scales: Scale of each output times the input scale, [G, O].
        damping: Added to the diagonal, in units of the mean variance of a code.
    """
    own, _ = moments.covariances()
    own = own + _ridge(own, damping) * np.eye(own.shape[1])
    return _round(own, weights / scales[:, :, None])


def _ridge(own: Matrix, damping: float) -> Matrix:
    """Strength for each group [G, 1, 1]; a group whose input never varies gets 1."""
    mean = np.trace(own, axis1=1, axis2=2) / own.shape[1]
    return np.asarray(np.where(mean > 0, damping * mean, 1.0)[:, None, None])


def _round(own: Matrix, exact: Matrix) -> Matrix:
    """All groups side by side: covariances [G, K, K], weights in steps [G, O, K]."""
    order = np.argsort(-np.diagonal(own, axis1=1, axis2=2), axis=1, kind="stable")
    own = np.take_along_axis(own, order[:, :, None], axis=1)
    own = np.take_along_axis(own, order[:, None, :], axis=2)
    exact = np.take_along_axis(exact, order[:, None, :], axis=2)
    factor = np.linalg.cholesky(np.linalg.inv(own)).transpose(0, 2, 1)
    moving, codes = exact.copy(), np.empty_like(exact)
    for k in range(own.shape[1]):
        codes[:, :, k] = _nearest(moving[:, :, k])
        error = (moving[:, :, k] - codes[:, :, k]) / factor[:, k, k, None]
        moving[:, :, k + 1 :] -= error[:, :, None] * factor[:, None, k, k + 1 :]
    both = [_settled(own, exact, start) for start in (codes, _nearest(exact))]
    errors = [np.sum(((exact - c) @ own) * (exact - c), axis=2) for c in both]
    codes = np.where((errors[0] <= errors[1])[:, :, None], *both)
    found = np.empty_like(codes)
    np.put_along_axis(found, np.broadcast_to(order[:, None, :], codes.shape), codes, axis=2)
    return found


def _settled(own: Matrix, exact: Matrix, start: Matrix) -> Matrix:
    """Codes that no change of a single one makes better."""
    codes = start.copy()
    pull = (exact - codes) @ own
    for _ in range(_SWEEPS):
        moved = False
        for k in range(own.shape[1]):
            wanted = _nearest(codes[:, :, k] + pull[:, :, k] / own[:, k, k, None])
            step = wanted - codes[:, :, k]
            if step.any():
                moved = True
                codes[:, :, k] = wanted
                pull -= step[:, :, None] * own[:, None, k]
        if not moved:
            break
    return codes


def _nearest(exact: Matrix) -> Matrix:
    """The nearest codes, as whole numbers."""
    return np.asarray(np.minimum(np.maximum(np.rint(exact), -_MAX_CODE), _MAX_CODE))
