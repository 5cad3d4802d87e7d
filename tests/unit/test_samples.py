import tracemalloc

import numpy as np
import pytest

from toolchain.errors import InputRefused
from toolchain.frontend.samples import InputSpec, load_samples

SPEC = InputSpec("in", (1, 2, 3))
RNG = np.random.default_rng(1)
DATA = RNG.normal(size=(5, 2, 3)).astype(np.float32)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def values(samples, name="in"):
    return np.concatenate([sample[name] for sample in samples])


@pytest.mark.parametrize("key", ["in", "x", "X", "x_test", "input", "anything"])
def test_npz_keys_of_a_single_input(tmp_path, key):
    samples = load_samples(save(tmp_path / "d.npz", **{key: DATA}), [SPEC])
    assert len(samples) == 5
    assert not samples.codes
    assert samples.labels is None
    assert samples.notes == samples.warnings == []
    first = next(iter(samples))["in"]
    assert first.shape == (1, 2, 3)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(values(samples), DATA)
    np.testing.assert_array_equal(values(samples), DATA)  # may be read again


@pytest.mark.parametrize(
    "data", [DATA[:, None], DATA[0], DATA[:1], np.asfortranarray(DATA), DATA.astype(">f4")]
)
@pytest.mark.parametrize("kind", ["npy", "npz", "compressed"])
def test_array_forms(tmp_path, data, kind):
    path = tmp_path / "d.bin"  # the content counts, not the name
    with path.open("wb") as file:
        {"npy": np.save, "npz": np.savez, "compressed": np.savez_compressed}[kind](file, data)
    np.testing.assert_array_equal(values(load_samples(path, [SPEC])), data.reshape(-1, 2, 3))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "bool", "uint8"])
def test_other_types_become_float(tmp_path, dtype):
    data = (DATA > 0).astype(dtype)
    samples = load_samples(save(tmp_path / "d.npz", x=data), [SPEC])
    assert next(iter(samples))["in"].dtype == np.float32
    np.testing.assert_array_equal(values(samples), data)


def test_pixels_are_scaled_only_when_told(tmp_path):
    data = RNG.integers(0, 256, (4, 2, 3), dtype=np.uint8)
    path = save(tmp_path / "d.npz", x=data)
    np.testing.assert_array_equal(values(load_samples(path, [SPEC])), data)
    scaled = values(load_samples(path, [SPEC], pixel_scale=1 / 255))
    np.testing.assert_array_equal(scaled, data * np.float32(1 / 255))


def test_int8_data_are_codes(tmp_path):
    data = RNG.integers(-128, 128, (4, 2, 3), dtype=np.int8)
    samples = load_samples(save(tmp_path / "d.npz", x=data), [SPEC])
    assert samples.codes
    assert next(iter(samples))["in"].dtype == np.int8
    np.testing.assert_array_equal(values(samples), data)


def test_several_inputs_by_name(tmp_path):
    specs = [SPEC, InputSpec("state", (1, 1, 4))]
    state = RNG.normal(size=(5, 1, 4)).astype(np.float32)
    samples = load_samples(save(tmp_path / "d.npz", state=state, **{"in": DATA}), specs)
    np.testing.assert_array_equal(values(samples, "state"), state)
    np.testing.assert_array_equal(values(samples), DATA)


@pytest.mark.parametrize("key", ["y", "y_test", "labels", "Label"])
def test_labels_follow_the_limit(tmp_path, key):
    path = save(tmp_path / "d.npz", x=DATA, **{key: np.array([[3.0], [1], [4], [1], [5]])})
    samples = load_samples(path, [SPEC], limit=3)
    assert len(samples) == len(list(samples)) == 3
    assert samples.labels.dtype == np.int64
    assert samples.labels.tolist() == [3, 1, 4]


def test_labels_belong_to_the_array_in_use(tmp_path):
    path = save(
        tmp_path / "d.npz",
        x_train=DATA,
        y_train=np.arange(5),
        x_test=DATA[:2] + 1,
        y_test=np.arange(2),
    )
    calibrate = load_samples(path, [SPEC])
    assert calibrate.labels.tolist() == [0, 1, 2, 3, 4]
    assert "x_train, not x_test" in calibrate.notes[0]
    assert calibrate.warnings == []
    compare = load_samples(path, [SPEC], stage="compare")
    assert compare.labels.tolist() == [0, 1]
    np.testing.assert_array_equal(values(compare), DATA[:2] + 1)


def test_targets_that_are_not_classes_are_no_labels(tmp_path):
    samples = load_samples(save(tmp_path / "d.npz", x=DATA, y=np.linspace(0, 1, 5)), [SPEC])
    assert samples.labels is None
    assert "not class numbers" in samples.notes[0]


def test_folder_of_arrays_in_order(tmp_path):
    np.save(tmp_path / "b.npy", DATA[2:])
    np.save(tmp_path / "a.npy", DATA[0])
    np.save(tmp_path / "a2.npy", DATA[1:2])
    (tmp_path / "README.txt").write_text("ignored")
    samples = load_samples(tmp_path, [SPEC])
    assert len(samples) == 5
    np.testing.assert_array_equal(values(samples), DATA)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("first", [True, False])
def test_folder_of_images(tmp_path, channels, first):
    image = pytest.importorskip("PIL.Image")
    pixels = RNG.integers(0, 256, (3, 8, 6, channels), dtype=np.uint8)
    for i, array in enumerate(pixels):
        image.fromarray(array if channels == 3 else array[:, :, 0]).save(tmp_path / f"{i}.png")
    spec = InputSpec("in", (1, channels, 8, 6) if first else (1, 8, 6, channels))
    expected = pixels.transpose(0, 3, 1, 2) if first else pixels
    np.testing.assert_array_equal(values(load_samples(tmp_path, [spec])), expected)
    np.testing.assert_array_equal(values(load_samples(tmp_path / "1.png", [spec])), expected[1:2])
    wrong = InputSpec("in", (1, channels, 8, 5) if first else (1, 8, 5, channels))
    with pytest.raises(InputRefused, match="6x8, the input takes 5x8"):
        load_samples(tmp_path, [wrong])


def bad(index, value):
    data = DATA.copy()
    data[index, 1, 2] = value
    return data


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"in": DATA[:, :, :2]}, r"input in takes \[N, 2, 3\], found \[5, 2, 2\]"),
        ({"x": DATA[:, :1]}, r"no array is named in or fits \[N, 2, 3\]; it has x \[5, 1, 3\]"),
        ({"a": DATA, "b": DATA}, "several arrays fit input in: a, b"),
        ({"x": bad(3, np.nan)}, "sample 3 holds NaN"),
        ({"x": bad(4, -np.inf)}, "sample 4 holds an infinite"),
        ({"x": bad(2, 1).astype(np.float64) * 1e300}, "sample 0 holds an infinite"),
        ({"x": DATA[:0]}, "no samples"),
        ({}, "it has nothing"),
        ({"x": DATA.astype(str)}, "not numbers"),
        ({"x": DATA.astype(object)}, "pickled"),
        ({"x": DATA + 1j}, "not numbers"),
        ({"x": DATA, "y": np.arange(4)}, r"labels must be 5 integers, found int64 \[4\]"),
    ],
)
def test_refuses_arrays_in_one_line(tmp_path, arrays, text):
    with pytest.raises(InputRefused, match=text) as caught:
        load_samples(save(tmp_path / "d.npz", **arrays), [SPEC], stage="compare")
    assert caught.value.stage == "compare"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "hint"), [("in", "use in or x"), ("x", "use x")])
def test_hint_names_each_choice_once(tmp_path, name, hint):
    spec = InputSpec(name, SPEC.shape)
    with pytest.raises(InputRefused, match="several arrays fit") as caught:
        load_samples(save(tmp_path / "d.npz", a=DATA, b=DATA), [spec])
    assert caught.value.hint.endswith(hint)


def test_refuses_a_missing_input_of_several(tmp_path):
    specs = [SPEC, InputSpec("state", (1, 4))]
    with pytest.raises(InputRefused, match=r"no array for input in; the file has x \[5, 2, 3\]"):
        load_samples(save(tmp_path / "d.npz", x=DATA, state=DATA), specs)
    with pytest.raises(InputRefused, match=r"different numbers of samples: \[5, 2\]"):
        load_samples(save(tmp_path / "e.npz", state=np.ones((2, 4)), **{"in": DATA}), specs)
    np.save(tmp_path / "d.npy", DATA)
    with pytest.raises(InputRefused, match=r"2 inputs \(in, state\), which need an .npz"):
        load_samples(tmp_path / "d.npy", specs)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"1.0, 2.0\n", "neither .npz nor .npy"),
        (b"", "neither .npz nor .npy"),
        (b"PK but not a zip file", "damaged"),
        (b"\x93NUMPY but no header", "not an array"),
    ],
)
def test_refuses_other_files(tmp_path, content, text):
    path = tmp_path / "d.npy"
    path.write_bytes(content)
    with pytest.raises(InputRefused, match=text):
        load_samples(path, [SPEC])


@pytest.mark.parametrize("fortran", [False, True])
def test_refuses_a_file_cut_short(tmp_path, fortran):
    path = tmp_path / "d.npy"
    np.save(path, np.asfortranarray(DATA) if fortran else DATA)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputRefused, match=r"ends before|cannot be read"):
        load_samples(path, [SPEC])


@pytest.mark.parametrize("store", [np.savez, np.savez_compressed])
def test_refuses_a_damaged_member(tmp_path, store):
    path = tmp_path / "d.npz"
    store(path, x=RNG.integers(0, 9999, size=(400, 2, 3)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputRefused, match="cannot be read"):
        load_samples(path, [SPEC])


def test_refuses_folders_without_data(tmp_path):
    with pytest.raises(InputRefused, match="no such file"):
        load_samples(tmp_path / "nothing.npz", [SPEC])
    with pytest.raises(InputRefused, match=r"no \.npy files and no images"):
        load_samples(tmp_path, [SPEC])
    np.save(tmp_path / "a.npy", DATA)
    np.save(tmp_path / "b.npy", DATA.astype(np.int8))
    with pytest.raises(InputRefused, match="different types: float32, int8"):
        load_samples(tmp_path, [SPEC])
    (tmp_path / "c.png").write_bytes(b"")
    with pytest.raises(InputRefused, match="both"):
        load_samples(tmp_path, [SPEC])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (DATA[:1], "there is only 1 sample"),
        (np.repeat(DATA[:1], 4, axis=0), "all 4 samples are equal"),
        (np.full((4, 2, 3), 7.5), "every value of every sample is 7.5"),
        (np.zeros((1, 2, 3)), "every value of every sample is 0"),
    ],
)
def test_warns(tmp_path, data, text):
    assert load_samples(save(tmp_path / "d.npz", x=data), [SPEC]).warnings == [text]


@pytest.mark.parametrize("store", [np.save, np.savez, np.savez_compressed])
def test_memory_does_not_follow_the_number_of_samples(tmp_path, store):
    data = RNG.normal(size=(200, 100, 100)).astype(np.float32)  # 8 MB
    path = tmp_path / ("d.npy" if store is np.save else "d.npz")
    store(path, data)
    tracemalloc.start()
    try:
        count = sum(1 for _ in load_samples(path, [InputSpec("in", (1, 100, 100))]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 200
    assert peak < 1_000_000


def test_real_data(shared):
    data = shared / "data"
    digits = load_samples(data / "digits.npz", [InputSpec("x", (1, 1, 8, 8))], stage="compare")
    assert len(digits) == len(digits.labels) == 629
    kws = load_samples(data / "mlperf_samples.npz", [InputSpec("i", (1, 49, 10, 1))])
    assert kws.codes
    vww = load_samples(data / "crops.npz", [InputSpec("i", (1, 96, 96, 3))], limit=10)
    assert len(vww) == 10
    assert max(float(sample["i"].max()) for sample in vww) > 200
