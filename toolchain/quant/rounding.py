"""Integer weights that reproduce a layer's float results on real inputs, not its float weights."""

import numpy as np
from numpy.typing import NDArray

from toolchain.ops._weights import INT8_REACH, SHRUNK
from toolchain.quant.moments import Matrix, Moments

_SWEEPS = 4


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
    moments: Moments, weights: Matrix, scales: Matrix, damping: float, reach: int = INT8_REACH
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
        reach: Largest magnitude of a code.
    """
    return _round(_damped(moments, damping), weights / scales[:, :, None], reach)


def best_scales(
    moments: Moments, weights: Matrix, scales: Matrix, damping: float, reach: int
) -> Matrix:
    """The scales [G, O] with which weights that are rounded one after the other are best.

    Args:
        moments: Of the layer.
        weights: Real weights to round, times the input scale, [G, O, K].
        scales: The largest scales, times the input scale, [G, O]; SHRUNK says which are tried.
        damping: As for round_weights.
        reach: Largest magnitude of a code.
    """
    own, order = _ordered(_damped(moments, damping))
    found, factor = [scales * shrunk for shrunk in SHRUNK], _factor(own)
    errors = []
    for tried in found:
        exact = np.take_along_axis(weights / tried[:, :, None], order[:, None, :], axis=2)
        codes = _one_by_one(factor, exact, reach)
        errors.append(_errors(own, exact - codes) * tried**2)
    best = np.argmin(errors, axis=0)
    return np.asarray(np.choose(best, found))


def _damped(moments: Moments, damping: float) -> Matrix:
    own, _ = moments.covariances()
    return np.asarray(own + _ridge(own, damping) * np.eye(own.shape[1]))


def _ridge(own: Matrix, damping: float) -> Matrix:
    """Strength for each group [G, 1, 1]; a group whose input never varies gets 1."""
    mean = np.trace(own, axis1=1, axis2=2) / own.shape[1]
    return np.asarray(np.where(mean > 0, damping * mean, 1.0)[:, None, None])


def _ordered(own: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """The covariances with the largest variance first, and that order [G, K]."""
    order = np.argsort(-np.diagonal(own, axis1=1, axis2=2), axis=1, kind="stable")
    own = np.take_along_axis(own, order[:, :, None], axis=1)
    return np.take_along_axis(own, order[:, None, :], axis=2), order


def _round(own: Matrix, exact: Matrix, reach: int) -> Matrix:
    """All groups side by side: covariances [G, K, K], weights in steps [G, O, K]."""
    own, order = _ordered(own)
    exact = np.take_along_axis(exact, order[:, None, :], axis=2)
    starts = (_one_by_one(_factor(own), exact, reach), _nearest(exact, reach))
    both = [_settled(own, exact, start, reach) for start in starts]
    errors = [_errors(own, exact - c) for c in both]
    codes = np.where((errors[0] <= errors[1])[:, :, None], *both)
    found = np.empty_like(codes)
    np.put_along_axis(found, np.broadcast_to(order[:, None, :], codes.shape), codes, axis=2)
    return found


def _errors(own: Matrix, difference: Matrix) -> Matrix:
    """[G, O]: mean squared error of the sums for weights that differ so."""
    return np.asarray(np.sum((difference @ own) * difference, axis=2))


def _factor(own: Matrix) -> Matrix:
    """The upper triangular factor of the inverse [G, K, K]."""
    return np.asarray(np.linalg.cholesky(np.linalg.inv(own)).transpose(0, 2, 1))


def _one_by_one(factor: Matrix, exact: Matrix, reach: int) -> Matrix:
    """Nearest codes, each after the errors of those before it moved into the rest."""
    moving, codes = exact.copy(), np.empty_like(exact)
    for k in range(factor.shape[1]):
        codes[:, :, k] = _nearest(moving[:, :, k], reach)
        error = (moving[:, :, k] - codes[:, :, k]) / factor[:, k, k, None]
        moving[:, :, k + 1 :] -= error[:, :, None] * factor[:, None, k, k + 1 :]
    return codes


def _settled(own: Matrix, exact: Matrix, start: Matrix, reach: int) -> Matrix:
    """Codes that no change of a single one makes better."""
    codes = start.copy()
    pull = (exact - codes) @ own
    for _ in range(_SWEEPS):
        moved = False
        for k in range(own.shape[1]):
            wanted = _nearest(codes[:, :, k] + pull[:, :, k] / own[:, k, k, None], reach)
            step = wanted - codes[:, :, k]
            if step.any():
                moved = True
                codes[:, :, k] = wanted
                pull -= step[:, :, None] * own[:, None, k]
        if not moved:
            break
    return codes


def _nearest(exact: Matrix, reach: int) -> Matrix:
    """The nearest codes, as whole numbers."""
    return np.asarray(np.minimum(np.maximum(np.rint(exact), -reach), reach))
