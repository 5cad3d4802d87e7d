"""Unicorn: the engine that needs nothing but pip; no Cortex-M55, no MPU, no alignment faults."""

import contextlib
import functools
import importlib
import importlib.util
import signal
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from toolchain.board import Memory
from toolchain.emit.machines import machine_for, stand_ins
from toolchain.errors import RunFailed
from toolchain.run.build import BuildResult
from toolchain.run.console import Fault, Scene, judge, last_line, values
from toolchain.run.elf import Elf
from toolchain.run.emulator import CALIBRATION, MARK, RunRequest, RunResult

_MODELS = {
    "cortex-m0": "UC_CPU_ARM_CORTEX_M0",
    "cortex-m0plus": "UC_CPU_ARM_CORTEX_M0",
    "cortex-m3": "UC_CPU_ARM_CORTEX_M3",
    "cortex-m4": "UC_CPU_ARM_CORTEX_M4",
    "cortex-m7": "UC_CPU_ARM_CORTEX_M7",
    "cortex-m33": "UC_CPU_ARM_CORTEX_M33",
}
_PAGE = 4096
_SYSTEM_CONTROL = 0xE000E000
_BREAKPOINT = b"\xab\xbe"  # BKPT 0xAB: semihosting
_STACK_LIMIT = 19
_SVC, _BKPT = "SVC", "BKPT"
_EXCEPTIONS = {
    1: "undefined instruction",
    2: _SVC,
    7: _BKPT,
    _STACK_LIMIT: "below the stack limit",
}
_HARD_FAULT = 3
_FETCH, _DATA, _UNDEFINED, _STACK_OVERFLOW = 1 << 0, 1 << 1, 1 << 16, 1 << 20
"""Bits of the core's CFSR that say what Unicorn's own exceptions mean."""
_OPEN, _WRITE0, _WRITE, _READ, _COMMAND_LINE, _EXIT = 1, 4, 5, 6, 0x15, 0x20


class Unicorn:
    """The Unicorn engine."""

    name = "unicorn"

    def missing(self, cpu: str) -> str | None:
        """Why Unicorn cannot be used; None when it can."""
        if cpu not in _MODELS:
            return f"unicorn does not emulate {cpu}: use --emulator qemu"
        return _import_trouble()

    def elf(self, build: BuildResult) -> Path:
        """The same program as in QEMU."""
        return build.emulation

    def run(self, request: RunRequest) -> RunResult:
        """Run all samples; see `toolchain.run.emulator.Emulator`."""
        reason = self.missing(request.board.cpu)
        if reason:
            raise RunFailed("emulate", self.name, reason)
        elf = Elf(request.elf)
        elf.check_architecture(request.board)
        session = Session(elf, request)
        session.execute()
        return session.result()


class Session:
    """One boot: memory, semihosting, counters."""

    def __init__(self, elf: Elf, request: RunRequest) -> None:
        self.elf, self.request = elf, request
        self.api: Any = importlib.import_module("unicorn")
        self.arm: Any = importlib.import_module("unicorn.arm_const")
        mode = self.api.UC_MODE_THUMB | self.api.UC_MODE_MCLASS
        self.cpu: Any = self.api.Uc(self.api.UC_ARCH_ARM, mode)
        self.cpu.ctl_set_cpu_model(getattr(self.arm, _MODELS[request.board.cpu]))
        self.console = ""
        self.exit_code: int | None = None
        self.error: Exception | None = None
        self.scene = Scene(elf, request.board, request.model)
        self.invalid: tuple[int, int] | None = None  # (kind of access, address)
        self.input, self.position = b"".join(request.samples), 0
        self.files: dict[int, tuple[str, bytearray]] = {}
        self.executed = 0
        self.lengths: dict[tuple[int, int], int] = {}
        self.marks: list[tuple[int, int]] = []  # (layer, instructions so far)
        self.dumps: list[list[bytes]] = []
        self._map_memory()
        self._add_hooks()

    def _map_memory(self) -> None:
        board, machine = self.request.board, machine_for(self.request.board)
        readable, writable = self.api.UC_PROT_READ, self.api.UC_PROT_WRITE
        code = readable | self.api.UC_PROT_EXEC
        self._map(machine.flash, machine.flash.bytes, code)
        self._map(machine.ram, board.ram.bytes, readable | writable)
        self._map(machine.harness, machine.harness.bytes, readable | writable)
        for memory in stand_ins(machine, self.request.model.further_memories(board)):
            access = code if memory.kind == "flash" else readable | writable
            self._map(memory, memory.bytes, access)
        for page in (*machine.timer.window, _SYSTEM_CONTROL):
            self.cpu.mem_map(page, _PAGE, readable | writable)
        for address, data in self.elf.segments:
            self.cpu.mem_write(address, data)

    def _map(self, memory: Memory, size: int, access: int) -> None:
        self.cpu.mem_map(memory.origin, -(-size // _PAGE) * _PAGE, access)

    def _add_hooks(self) -> None:
        hook, api = self.cpu.hook_add, self.api
        mark = self.elf.address(MARK)
        hook(api.UC_HOOK_INTR, self._guard(self._interrupt))
        hook(api.UC_HOOK_BLOCK, self._block)
        hook(api.UC_HOOK_MEM_INVALID, self._invalid)
        hook(api.UC_HOOK_CODE, self._guard(self._mark), begin=mark, end=mark)

    def _guard(self, function: Any) -> Any:
        """An exception must not pass through the engine: keep it and stop."""

        def call(*arguments: Any) -> None:
            try:
                function(*arguments)
            except Exception as error:
                self.error = error
                self.cpu.emu_stop()

        return call

    def execute(self) -> None:
        """Run until the firmware exits.

        Raises:
            RunFailed: It faulted, or did not exit in time.
        """
        stack, entry = struct.unpack("<II", self.elf.segments[0][1][:8])
        self.cpu.reg_write(self.arm.UC_ARM_REG_SP, stack)
        try:
            with self._interruptible():
                self.cpu.emu_start(entry | 1, 0xFFFFFFFF, timeout=int(self.request.timeout_s * 1e6))
        except self.api.UcError as error:
            raise self._stopped(str(error)) from error
        if self.error is not None:
            raise self.error
        self._judge()

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Ctrl-C ends the run: the exception it is elsewhere would be lost in a hook."""
        if threading.current_thread() is not threading.main_thread():
            yield  # which gets no signals
            return
        pressed = False

        def stop(_number: int, _frame: FrameType | None) -> None:
            nonlocal pressed
            pressed = True
            self.cpu.emu_stop()

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        if pressed:
            raise KeyboardInterrupt

    def _judge(self) -> None:
        judge(values(self.console), self.scene)
        if self.exit_code is None:
            seconds, sample = self.request.timeout_s, self._sample(len(self.marks) - 1)
            raise self.scene.late(seconds, sample, self._pc(), self._layer())
        if self.exit_code != 0:
            reason = f"the firmware exited with code {self.exit_code}"
            raise RunFailed("emulate", self.elf.path.name, reason, last_line(self.console))

    def _pc(self) -> int:
        return int(self.cpu.reg_read(self.arm.UC_ARM_REG_PC)) & ~1

    def _layer(self) -> int | None:
        """The layer that runs; the first two marks are the calibration's."""
        return self.marks[-1][0] if len(self.marks) > CALIBRATION else None

    def _sample(self, mark: int) -> int:
        return max(0, mark - CALIBRATION) // (len(self.request.model.layers) + 1)

    def _invalid(self, _cpu: Any, access: int, address: int, *_: Any) -> bool:
        self.invalid = access, address
        return False

    def _stopped(self, told: str) -> RunFailed:
        """The error of an engine that stopped; its exceptions in terms of the core's registers."""
        sp = self.cpu.reg_read(self.arm.UC_ARM_REG_SP)
        access, address = self.invalid or (None, None)
        cfsr = _UNDEFINED if access is None else _DATA
        if told in (_SVC, _BKPT):
            cfsr = 0
        if sp < self.elf.address("__stack_limit") or told == _EXCEPTIONS[_STACK_LIMIT]:
            cfsr = _STACK_OVERFLOW
        elif access in (self.api.UC_MEM_FETCH_UNMAPPED, self.api.UC_MEM_FETCH_PROT):
            cfsr, address = _FETCH, None
        fault = Fault(_HARD_FAULT, cfsr, address, self._pc(), None, told)
        return self.scene.fault(fault, self._layer())

    # --- counting -------------------------------------------------------------------------------

    def _block(self, _cpu: Any, address: int, size: int, _data: Any) -> None:
        key = (address, size)
        if key not in self.lengths:
            self.lengths[key] = _count(bytes(self.cpu.mem_read(address, size)))
        self.executed += self.lengths[key]

    def _mark(self, _cpu: Any, _address: int, _size: int, _data: Any) -> None:
        layer = self.cpu.reg_read(self.arm.UC_ARM_REG_R0)
        self.marks.append((layer, self.executed))
        sample = self._sample(len(self.marks) - 1)
        if layer > 0 and len(self.marks) > CALIBRATION and sample < self.request.dumped:
            if layer == 1:
                self.dumps.append([])
            self.dumps[-1].append(self._layer_bytes(layer - 1))

    def _layer_bytes(self, layer: int) -> bytes:
        model = self.request.model
        places = [(*model.place(start), size) for start, size in model.layers[layer].outputs]
        return b"".join(
            bytes(self.cpu.mem_read(self.elf.address(symbol) + start, size))
            for symbol, start, size in places
        )

    # --- semihosting ----------------------------------------------------------------------------

    def _interrupt(self, _cpu: Any, number: int, _data: Any) -> None:
        pc = self.cpu.reg_read(self.arm.UC_ARM_REG_PC)
        if bytes(self.cpu.mem_read(pc, 2)) != _BREAKPOINT:
            raise self._stopped(_EXCEPTIONS.get(number, f"exception {number} of the engine"))
        operation = self.cpu.reg_read(self.arm.UC_ARM_REG_R0)
        answer = self._semihosting(operation, self.cpu.reg_read(self.arm.UC_ARM_REG_R1))
        self.cpu.reg_write(self.arm.UC_ARM_REG_R0, answer & 0xFFFFFFFF)
        self.cpu.reg_write(self.arm.UC_ARM_REG_PC, (pc + 2) | 1)

    def _words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.cpu.mem_read(address, 4 * count))

    def _semihosting(self, operation: int, argument: int) -> int:
        if operation == _WRITE0:
            self.console += self._string(argument)
        elif operation == _OPEN:
            address, _, length = self._words(argument, 3)
            name = bytes(self.cpu.mem_read(address, length)).decode()
            self.files[len(self.files) + 1] = (name, bytearray())
            return len(self.files)
        elif operation == _READ:
            _, address, length = self._words(argument, 3)
            data = self.input[self.position : self.position + length]
            self.position += len(data)
            self.cpu.mem_write(address, data)
            return length - len(data)
        elif operation == _WRITE:
            handle, address, length = self._words(argument, 3)
            self.files[handle][1].extend(self.cpu.mem_read(address, length))
        elif operation == _COMMAND_LINE:
            address, _ = self._words(argument, 2)
            # Layers are kept by the host, so the firmware is told to dump nothing.
            self.cpu.mem_write(address, f"fw {len(self.request.samples)} 0".encode() + b"\0")
        elif operation == _EXIT:
            self.exit_code = self._words(argument, 2)[1]
            self.cpu.emu_stop()
        return 0

    def _string(self, address: int) -> str:
        text = bytearray()
        while (byte := bytes(self.cpu.mem_read(address + len(text), 1))) != b"\0":
            text += byte
        return text.decode("utf-8", "replace")

    # --- result ---------------------------------------------------------------------------------

    def result(self) -> RunResult:
        """Everything the run gave."""
        request = self.request
        layers, samples = len(request.model.layers), len(request.samples)
        overhead = self.marks[1][1] - self.marks[0][1]
        counts = np.array([count for _, count in self.marks[CALIBRATION:]], dtype=np.int64)
        counts = np.diff(counts.reshape(samples, layers + 1), axis=1) - overhead
        data = next(bytes(data) for name, data in self.files.values() if name == "out.bin")
        size = sum(port.nbytes for port in request.model.outputs)
        return RunResult(
            emulator="unicorn",
            core=request.board.cpu,
            outputs=[data[i * size : (i + 1) * size] for i in range(samples)],
            console=self.console,
            instructions=counts,
            stack_bytes=values(self.console)["stack"],
            dumps=self.dumps,
        )


@functools.cache
def _import_trouble() -> str | None:
    """Why the package cannot be imported, which loads its library; None when it can."""
    if importlib.util.find_spec("unicorn") is None:
        return "unicorn is not installed: pip install unicorn"
    try:
        importlib.import_module("unicorn")
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        return f"unicorn does not load ({told}): pip install --force-reinstall unicorn"
    return None


def _count(code: bytes) -> int:
    """Instructions in a run of Thumb code: 0b11101, 0b11110 and 0b11111 begin a long one."""
    position = number = 0
    while position < len(code):
        position += 4 if code[position + 1] >> 3 in (0x1D, 0x1E, 0x1F) else 2
        number += 1
    return number
