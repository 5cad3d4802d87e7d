"""What `convert` leaves behind for later commands: manifest, model, integer graph, samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import onnx
from msgspec.structs import replace
from onnx import ModelProto

from toolchain.board import Board
from toolchain.emit import FirmwareModel, LayerInfo, ModelCode, Port
from toolchain.ir import Array, Graph, Rounding
from toolchain.ir.serialize import save_graph
from toolchain.ir.text import graph_text
from toolchain.ops._layer import LayerOp
from toolchain.project.folder import MANIFEST, MODEL
from toolchain.project.manifest import BufferFacts, GainFacts, LayerFacts, Manifest, StepFacts
from toolchain.project.names import layer_names
from toolchain.quant.refine import Gain


@dataclass(frozen=True, slots=True)
class Source:
    """What a project is made from.

    Args:
        model: Name of the ONNX file.
        sha256: Its hash.
        tool: Version of the tool.
        board: The board.
        library: Whose kernels are called: fast, portable or cmsis-nn.
        calibration: How ranges were chosen.
        samples: Number of calibration samples.
        stack_bytes: Stack reserved.
        shapes: Input shapes the user gave.
        pixel_scale: Real value of one step of 8-bit pixel data.
        notes: What was assumed.
        warnings: What the user should know of the quantisation.
        rounding: How integers are requantised.
        methods: How the range of each tensor was chosen.
        gains: What was tried on the weights.
    """

    model: str
    sha256: str
    tool: str
    board: Board
    library: str
    calibration: str
    samples: int
    stack_bytes: int
    shapes: Mapping[str, tuple[int, ...]]
    pixel_scale: float
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    rounding: Rounding
    methods: Mapping[str, str] = field(default_factory=dict)
    gains: tuple[Gain, ...] = ()

    def facts(self) -> dict[str, str]:
        """Lines for the head of generated files."""
        return {
            "model": f"{self.model}, sha256 {self.sha256}",
            "board": f"{self.board.name} ({self.board.description})",
            "tool": f"onnx2mcu {self.tool}",
            "rounding": self.rounding.value,
        }


def firmware_of(code: ModelCode) -> FirmwareModel:
    """What the firmware has to know of the generated model."""
    names = layer_names([layer.op for layer in code.layers])
    return FirmwareModel(
        code.prefix,
        tuple(Port(p.name, p.ident, p.nbytes) for p in code.ports),
        tuple(Port(p.name, p.ident, p.nbytes) for p in code.outputs),
        tuple(LayerInfo(names[layer.op.y], layer.outputs) for layer in code.layers),
        code.plan.arena_bytes,
        code.sources,
        code.single_rounding,
        0 if code.fed is None else code.fed.rows,
        tuple((part.memory, part.nbytes) for part in code.plan.parts),
        code.weights_memory,
        code.hot_memory,
        tuple(table.symbol for table in code.tables if table.symbol in code.hot),
        code.segments,
        code.dead,
    )


def manifest_of(code: ModelCode, source: Source) -> Manifest:
    """The manifest of a project."""
    graph, plan = code.graph, code.plan
    names = layer_names([layer.op for layer in code.layers])
    layers = tuple(
        LayerFacts(
            name=names[layer.op.y],
            op=type(layer.op).__name__,
            kernel=layer.choice.kernel.name,
            macs=layer.op.macs(graph.types),
            shape=graph.types[layer.op.y].shape,
            weights_bytes=sum(
                layer.op.stored_bytes(x, graph.types)
                for x in layer.op.inputs
                if x in graph.constants
            ),
            weight_bits=layer.op.weight_bits if isinstance(layer.op, LayerOp) else 0,
            scratch_bytes=layer.choice.scratch,
            rejected=layer.choice.rejected,
            predicted=layer.choice.predicted,
            reason=layer.choice.reason,
        )
        for layer in code.layers
    )
    return Manifest(
        tool=source.tool,
        prefix=code.prefix,
        source=source.model,
        model_sha256=source.sha256,
        board=source.board,
        library=source.library,
        calibration=source.calibration,
        calibration_samples=source.samples,
        ranges=dict(source.methods),
        gains=tuple(
            GainFacts(
                technique=gain.technique,
                sqnr_db=round(gain.sqnr_db, 3),
                gain_db=round(gain.gain_db, 3),
                kept=gain.kept,
            )
            for gain in source.gains
        ),
        arena_bytes=plan.arena_bytes,
        arena_lower_bound=plan.lower_bound,
        arena_optimal=plan.optimal,
        peak_layer=plan.peak_step,
        weights_bytes=code.constant_bytes,
        stack_bytes=source.stack_bytes,
        macs=sum(layer.macs for layer in layers),
        layers=layers,
        buffers=tuple(
            BufferFacts(
                name=b.name,
                tensors=b.tensors,
                offset=b.offset,
                nbytes=b.nbytes,
                first=b.first,
                last=b.last,
                over=b.over,
            )
            for b in plan.buffers
        ),
        steps=tuple(
            StepFacts(name=name, nbytes=n, rows=rows)
            for (name, rows), n in zip(code.steps, plan.step_bytes, strict=True)
        ),
        firmware=firmware_of(code),
        notes=source.notes,
        warnings=source.warnings,
        shapes=dict(source.shapes),
        pixel_scale=source.pixel_scale,
        rounding=source.rounding.value,
    )


def write_records(
    directory: Path,
    model: ModelProto | None,
    graph: Graph,
    manifest: Manifest,
    samples: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Array] | None = None,
) -> None:
    """Write manifest.json and the model folder.

    Args:
        directory: The project.
        model: The original model; None when the project holds a part of one.
        graph: The integer graph.
        manifest: The manifest.
        samples: int8 codes of a few samples, for runs without data.
        expected: Right outputs [N, ...] of these samples, which `emulate` is to compare.
    """
    folder = directory / MODEL
    folder.mkdir()
    if model is not None:
        onnx.save(model, folder / "model.onnx")
    save_graph(graph, folder)
    (folder / "graph.txt").write_text(graph_text(graph), encoding="utf-8")
    arrays = {f"input{i}": np.stack([s[x] for s in samples]) for i, x in enumerate(graph.inputs)}
    np.savez_compressed(folder / "samples.npz", **arrays)  # type: ignore[arg-type]
    if expected is not None:
        right = {f"output{i}": expected[y] for i, y in enumerate(graph.outputs)}
        np.savez_compressed(folder / "expected.npz", **right)  # type: ignore[arg-type]
    written = sorted(
        p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file()
    )
    manifest = replace(manifest, files=(MANIFEST, *written))
    text = msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=1)
    (directory / MANIFEST).write_bytes(text + b"\n")
