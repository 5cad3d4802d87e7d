"""Models of the shared folder, each with the data it is calibrated and tested on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toolchain.ir import Array


@dataclass(frozen=True)
class Zoo:
    """A model of the shared folder and its data.

    Args:
        model: File name without .onnx.
        calibration: Arrays of the data file -> calibration samples [N, ...].
        test: Arrays of the data file -> test samples [N, ...].
        labels: Key of the test labels, or None.
        data: Name of the data file.
    """

    model: str
    data: str
    calibration: Callable[[dict[str, Array]], Array]
    test: Callable[[dict[str, Array]], Array]
    labels: str | None

    def path(self, shared: Path) -> Path:
        """The ONNX file."""
        return shared / "models" / f"{self.model}.onnx"

    def arrays(self, shared: Path) -> tuple[Array, Array, Array | None]:
        """(calibration, test, labels), float32."""
        with np.load(shared / "data" / self.data) as stored:
            data = {key: stored[key] for key in stored.files if stored[key].dtype.kind != "U"}
        calibration = self.calibration(data).astype(np.float32)
        test = self.test(data).astype(np.float32)
        return calibration, test, data[self.labels] if self.labels else None

    def write(self, shared: Path, folder: Path, samples: int | None) -> tuple[Path, Path]:
        """Write at most 100 calibration samples and `samples` test samples; returns the files."""
        calibration, test, labels = self.arrays(shared)
        np.save(folder / "calibration.npy", calibration[:100])
        arrays = {"x": test[:samples]}
        if labels is not None:
            arrays["y"] = labels[:samples]
        np.savez(folder / "test.npz", **arrays)  # type: ignore[arg-type]
        return folder / "calibration.npy", folder / "test.npz"


def _key(name: str) -> Callable[[dict[str, Array]], Array]:
    return lambda data: data[name]


def _channels_last(name: str) -> Callable[[dict[str, Array]], Array]:
    return lambda data: data[name].transpose(0, 2, 3, 1)


def _unit_pixels(data: dict[str, Array]) -> Array:
    return data["vww"] / np.float32(255)


ZOO = {
    "kws": Zoo("mlperf_kws", "kws_tts.npz", _key("x"), _key("x"), "y"),
    "ic": Zoo("mlperf_ic", "crops.npz", _key("ic"), _key("ic"), None),
    "vww": Zoo("mlperf_vww", "crops.npz", _unit_pixels, _unit_pixels, None),
    "ad": Zoo("mlperf_ad", "mlperf_samples.npz", _key("ad"), _key("ad"), None),
    "digits": Zoo(
        "t_digits_resnet__legacy_op13", "digits.npz", _key("x_train"), _key("x_test"), "y_test"
    ),
    "fashion": Zoo(
        "t_fashion_dscnn__legacy_op13",
        "fashion_mnist_small.npz",
        _key("x_calib"),
        _key("x_test"),
        "y_test",
    ),
    "vowels": Zoo(
        "t_vowels_tcn__legacy_op13",
        "japanese_vowels.npz",
        _key("x_train"),
        _key("x_test"),
        "y_test",
    ),
    "lenet": Zoo(
        "t_mnist_lenet__legacy_op13", "mnist5k.npz", _key("x_train"), _key("x_test"), "y_test"
    ),
    "sepconv": Zoo(
        "k_mnist_sepconv",
        "mnist5k.npz",
        _channels_last("x_train"),
        _channels_last("x_test"),
        "y_test",
    ),
    "ae": Zoo("t_mnist_ae__legacy_op13", "mnist5k.npz", _key("x_train"), _key("x_test"), None),
    "breast": Zoo(
        "s_breast_mlp_relu", "breast_cancer.npz", _key("x_train"), _key("x_test"), "y_test"
    ),
    "wine": Zoo("s_wine_mlp_tanh", "wine.npz", _key("x_train"), _key("x_test"), "y_test"),
}
