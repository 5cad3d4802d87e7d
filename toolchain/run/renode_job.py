"""What a Renode run has to know, as plain data that a child process reads from a file."""

import msgspec

from toolchain.emit.project import FirmwareModel
from toolchain.run.elf import Elf
from toolchain.run.emulator import RunRequest


class Port(msgspec.Struct, frozen=True):
    """An input or output: where the firmware keeps the pointer to it, and its bytes."""

    pointer: int
    bytes: int


class Job(msgspec.Struct, frozen=True):
    """Addresses, sizes and limits of a run; `firmware/harness_hooks.c` says what they mean.

    Attributes:
        elf: Path of the program.
        vector_table: Address of the vector table.
        mips: Instructions per microsecond of emulated time.
        count: Number of samples.
        dumped: Number of samples whose layers are kept.
        layers: Per layer, (address, bytes) of its outputs.
        timeout_s: Wall time for the run, in seconds.
        emulated_s: Emulated time for one inference, in seconds.
        uart: Whether the board's serial port is modelled.
        profile: Whether Renode's profiler writes the call stacks.
    """

    elf: str
    vector_table: int
    mips: int
    count: int
    dumped: int
    timeout_s: float
    emulated_s: float
    uart: bool
    profile: bool
    ready: int
    mark: int
    done: int
    faulted: int
    sample: int
    status: int
    stack: int
    fault: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    layers: tuple[tuple[tuple[int, int], ...], ...]


def job_of(request: RunRequest, elf: Elf, profile: bool = False) -> Job:
    """The job of a request.

    Args:
        request: What to run.
        elf: The harness with hooks.
        profile: Whether call stacks are wanted, too.

    Raises:
        RunFailed: The program is not the harness with hooks.
    """
    board, model = request.board, request.model
    mark = {name: elf.address(f"onnx2mcu_{name}") for name in ("ready", "mark", "done", "faulted")}
    return Job(
        elf=str(elf.path.resolve()),
        vector_table=elf.address("onnx2mcu_vectors"),
        mips=max(1, board.clock_hz // 1_000_000),
        count=len(request.samples),
        dumped=request.dumped,
        timeout_s=request.timeout_s,
        emulated_s=request.timeout_s if request.emulated_s is None else request.emulated_s,
        uart=bool(board.renode.uart),
        profile=profile,
        sample=elf.address("onnx2mcu_sample"),
        status=elf.address("onnx2mcu_status"),
        stack=elf.address("onnx2mcu_stack_bytes"),
        fault=elf.address("onnx2mcu_fault_record"),
        inputs=_ports(elf.address("onnx2mcu_inputs"), [port.nbytes for port in model.inputs]),
        outputs=_ports(elf.address("onnx2mcu_outputs"), [port.nbytes for port in model.outputs]),
        layers=_layers(elf, model),
        **mark,
    )


def _ports(table: int, sizes: list[int]) -> tuple[Port, ...]:
    return tuple(Port(table + 4 * index, size) for index, size in enumerate(sizes))


def _layers(elf: Elf, model: FirmwareModel) -> tuple[tuple[tuple[int, int], ...], ...]:
    def address(offset: int) -> int:
        symbol, start = model.place(offset)
        return elf.address(symbol) + start

    return tuple(
        tuple((address(offset), size) for offset, size in layer.outputs) for layer in model.layers
    )
