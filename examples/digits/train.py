"""Train the demo model on scikit-learn's handwritten digits and write the files the demo ships.

Usage, in an environment with the ``examples`` extra installed::

    python examples/digits/train.py [--output DIR]

It writes ``model.onnx`` (float32, NCHW, symbolic batch), ``calibration.npz`` (training images for
the quantiser) and ``test.npz`` (images never trained on, with their labels), and prints the
accuracy that onnxruntime measures on the exported file. Everything is seeded; examples/README.md
says how far the result is reproducible.
"""

import argparse
import os
from pathlib import Path

# The same arithmetic on every x86 processor, as far as the libraries allow: set before they load.
os.environ.setdefault("ATEN_CPU_CAPABILITY", "default")
os.environ.setdefault("MKL_CBWR", "COMPATIBLE")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "SSE41")

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

SEED = 7
EPOCHS = 60
BATCH = 32
TEST_IMAGES = 540
CALIBRATION_IMAGES = 128
OPSET = 17

Images = NDArray[np.float32]
Labels = NDArray[np.int64]


class ConvNorm(nn.Sequential):
    """A convolution without bias and its batch normalisation, [N, in, H, W] -> [N, out, H', W']."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs),
        )


class DigitsNet(nn.Module):
    """Convolution, a separable residual block, a strided separable block, pooling, a dense layer.

    Args:
        width: channels of the first half of the net; the second half has twice as many.
    """

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = ConvNorm(1, width, 3)
        self.depthwise1 = ConvNorm(width, width, 3, groups=width)
        self.pointwise1 = ConvNorm(width, width, 1)
        self.depthwise2 = ConvNorm(width, width, 3, stride=2, groups=width)
        self.pointwise2 = ConvNorm(width, 2 * width, 1)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dense = nn.Linear(2 * width, 10)

    def forward(self, image: Tensor) -> Tensor:
        """Return the probabilities [N, 10] of images [N, 1, 8, 8] with pixels from 0 to 1."""
        return torch.softmax(self.logits(image), dim=1)

    def logits(self, image: Tensor) -> Tensor:
        """Return what goes into the softmax, [N, 10]; the loss is computed on it."""
        x = torch.relu(self.stem(image))
        y = torch.relu(self.depthwise1(x))
        x = torch.relu(x + self.pointwise1(y))
        x = torch.relu(self.depthwise2(x))
        x = torch.relu(self.pointwise2(x))
        return self.dense(self.pool(x).flatten(1))


def load_split() -> tuple[Images, Images, Labels, Labels]:
    """Return training images, test images [N, 1, 8, 8] and their labels, every class in proportion.

    Pixels are sixteenths, 0/16 to 16/16, which float32 holds exactly.
    """
    digits = load_digits()
    images = (digits.images[:, None] / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int64)
    split = train_test_split(
        images, labels, test_size=TEST_IMAGES, random_state=SEED, stratify=labels
    )
    return split[0], split[1], split[2], split[3]


def shifted(images: Tensor) -> Tensor:
    """Move every image [N, 1, 8, 8] by -1, 0 or 1 pixel each way, filling with background."""
    padded = nn.functional.pad(images, (1, 1, 1, 1))
    offsets = torch.randint(0, 3, (len(images), 2)).tolist()
    moved = [image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)]
    return torch.stack(moved)


def train(images: Images, labels: Labels) -> DigitsNet:
    """Train a net on images [N, 1, 8, 8] and labels [N]; return it in evaluation mode."""
    torch.manual_seed(SEED)
    net = DigitsNet()
    x, target = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-2)
    batches = -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-2, total_steps=EPOCHS * batches
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).split(BATCH):
            loss = loss_of(net.logits(shifted(x[chosen])), target[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def export(net: DigitsNet, path: Path) -> None:
    """Write the net as ONNX: ``image`` [batch, 1, 8, 8] -> ``probabilities`` [batch, 10].

    ``PRESERVE`` keeps the batch normalisations in the file, as many real exports have them. The
    TorchScript exporter is asked for because it needs no package beside torch and onnx.
    """
    torch.onnx.export(
        net,
        (torch.zeros(1, 1, 8, 8),),
        path,
        dynamo=False,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        opset_version=OPSET,
        input_names=["image"],
        output_names=["probabilities"],
        dynamic_axes={"image": {0: "batch"}, "probabilities": {0: "batch"}},
    )


def accuracy(path: Path, images: Images, labels: Labels) -> float:
    """Return the fraction of images [N, 1, 8, 8] that onnxruntime classifies right."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (probabilities,) = session.run(None, {"image": images})
    return float(np.mean(probabilities.argmax(axis=1) == labels))


def main() -> None:
    """Train, export, and write the arrays."""
    parser = argparse.ArgumentParser(description="Train and export the digits demo model.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, metavar="DIR")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    train_images, test_images, train_labels, test_labels = load_split()
    net = train(train_images, train_labels)
    export(net, output / "model.onnx")
    np.savez_compressed(output / "calibration.npz", image=train_images[:CALIBRATION_IMAGES])
    np.savez_compressed(output / "test.npz", image=test_images, labels=test_labels.astype(np.uint8))
    reached = accuracy(output / "model.onnx", test_images, test_labels)
    print(f"float accuracy: {100 * reached:.2f} % of {len(test_labels)} test images")


if __name__ == "__main__":
    main()
