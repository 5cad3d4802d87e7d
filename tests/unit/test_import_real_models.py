"""The models of the shared folder: the float ones compute what ONNX Runtime does (R19, R22)."""

import re
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
    "mtcnn_pnet": 3,
    **{f"t_digits_resnet__{e}": 0 for e in EXPORTS},
    **{f"t_fashion_dscnn__{e}": 0 for e in EXPORTS},
    **{f"t_mnist_ae__{e}": 0 for e in EXPORTS},
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


CLASSIFIER = "pkg_rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer"
LSTM = r"LSTM '.+': this operator is not supported"
REFUSED = {
    CLASSIFIER: (
        r"its shape \[\?, 3, \?, \?\] has dimensions that are not numbers",
        "--shape x=1,3,N",
    ),
    "pkg_silero_vad__silero_vad_16k_sequence": (LSTM, "onnx2mcu ops"),
    **{f"t_mnist_lstm__{e}": (LSTM, "onnx2mcu ops") for e in EXPORTS},
}
"""Models that are refused: what the message says, and its hint. All others convert."""


def test_r21_every_model_of_the_folder_is_read_or_refused_for_its_reason(shared):
    refused = {}
    for path in sorted((shared / "models").glob("*.onnx")):
        try:
            graph = read(load_model(path), path.stem).graph
        except InputRefused as error:
            refused[path.stem] = error
        else:
            assert graph.ops, path.stem
    assert refused.keys() == REFUSED.keys()
    for name, (reason, hint) in REFUSED.items():
        assert re.match(reason, refused[name].reason), name
        assert hint in refused[name].hint, name
        assert len(refused[name].reason.splitlines()) == 1, name


def test_a_shape_makes_the_text_classifier_convert(shared):
    imported = read(load_model(path_of(shared, CLASSIFIER)), "m", {"x": (1, 3, 48, 192)})
    assert len(imported.graph.ops) > 100
