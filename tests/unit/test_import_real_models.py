"""The float models of the shared folder import, and compute what ONNX Runtime does (R19, R22)."""

from pathlib import Path

import pytest

from tests.unit.import_oracle import agree, kinds
from toolchain.errors import InputRefused
from toolchain.frontend.load import load_model
from toolchain.frontend.read import read

EXPORTS = [
    "dynamo_op18", "dynamo_op20", "dynamo_op23", "legacy_op11", "legacy_op13", "legacy_op17",
]  # fmt: skip
TRANSPOSES = {
    "mlperf_kws": 0,
    "mlperf_ic": 0,
    "mlperf_vww": 0,
    "mlperf_ad": 0,
    "mlperf_ad_h5": 0,
    "mlperf_ic_nchw": 1,
    "k_mnist_sepconv": 0,
    "tflm_hello_float": 0,
    "s_breast_mlp_relu": 0,
    "s_wine_mlp_tanh": 0,
    "pkg_kraiskil+onnx2c__mnist.simplified": 0,
    "pkg_pulsevad__pulsevad_2.1k": 1,
    "blazeface_front": None,
    **{f"t_digits_resnet__{e}": 0 for e in EXPORTS},
    **{f"t_fashion_dscnn__{e}": 0 for e in EXPORTS},
    **{f"t_mnist_lenet__{e}": 0 for e in EXPORTS},
    **{f"t_vowels_tcn__{e}": 1 for e in EXPORTS},
}
"""Model, and the transposes that must remain: an input of several channels first needs one."""


def path_of(shared: Path, name: str) -> Path:
    path = shared / "models" / f"{name}.onnx"
    if not path.is_file():
        pytest.skip(f"{path.name} is absent")
    return path


@pytest.mark.parametrize("name", TRANSPOSES)
def test_float_model_computes_what_onnx_runtime_does(name, shared):
    graph = agree(load_model(path_of(shared, name)))
    left = kinds(graph)
    if TRANSPOSES[name] is not None:
        assert left.count("Transpose") == TRANSPOSES[name]
    assert "Sub" not in left
    ones = [
        op
        for op in graph.ops
        if type(op).__name__ == "DepthwiseConv2D" and op.window.kernel == (1, 1)
    ]
    assert not ones, "a batch normalisation or scaling is left"


REFUSED = {
    "mtcnn_pnet": ["PRelu"],
    "t_mnist_ae__dynamo_op20": ["PRelu", "ConvTranspose", "Resize"],
    "t_mnist_lstm__legacy_op17": ["LSTM"],
    "mlperf_kws_drq": ["DequantizeLinear"],
    "pkg_silero_vad__silero_vad_16k_sequence": ["LSTM"],
}
"""Models outside the present operators; a name leaves this table when its operators arrive."""


@pytest.mark.parametrize("name", REFUSED)
def test_r21_model_with_operators_still_missing_names_them_all(name, shared):
    from toolchain.ir import IMPORTERS

    missing = [o for o in REFUSED[name] if o not in IMPORTERS]
    if not missing:
        pytest.skip("its operators are supported now")
    model = load_model(path_of(shared, name))
    shapes = {"input": (1, 576)} if "silero" in name else None
    with pytest.raises(InputRefused) as caught:
        read(model, name, shapes)
    for operator in missing:
        assert operator in f"{caught.value.reason} {caught.value.hint}"
