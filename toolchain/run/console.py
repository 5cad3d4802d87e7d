"""What the harness printed, and a fault in words: what, where, and what to do."""

import re
from dataclasses import dataclass

from toolchain.board import Board
from toolchain.emit.project import CANARY_BYTES, FirmwareModel
from toolchain.errors import RunFailed
from toolchain.run.elf import Elf

_OURS = "onnx2mcu "
_LINE = re.compile(r"^onnx2mcu (\w+) (.*)$", re.MULTILINE)
_EXCEPTIONS = {
    2: "NMI",
    3: "HardFault",
    4: "MemManage",
    5: "BusFault",
    6: "UsageFault",
    7: "SecureFault",
    11: "SVCall",
    12: "DebugMonitor",
}
_STACKING = 1 << 4 | 1 << 12 | 1 << 20  # MSTKERR, STKERR, STKOF
_MMFAR_VALID = 1 << 7
_BFAR_VALID = 1 << 15
_HARD_FAULT, _SVC = 3, 11
_SVC_BYTES = 2
"""SVC stops the core behind itself, BKPT at itself."""
_SVC_OPCODE, _BKPT_OPCODE = b"\xdf", b"\xbe"
_HINT_SVC = (
    "remove it, or the library that is built for an operating system; "
    "or define a handler in your own firmware"
)
_HINT_BKPT = "remove it: a breakpoint that was left in, or a failed assertion of a library"
_REPORT = "if it is a kernel, report it with the model"
_FLAGS = (
    "the core lacks it: look for an object compiled with other -mcpu flags, or for a jump astray"
)
_CAUSES = (
    (1 << 0, "executed code in memory that is not executable", f"a wild jump: {_REPORT}"),
    (1 << 8, "fetched an instruction from where no memory is", f"a wild jump: {_REPORT}"),
    (1 << 10, "an access to where no memory is (reported late)", f"a wild pointer: {_REPORT}"),
    (1 << 16, "undefined instruction", _FLAGS),
    (1 << 17, "jumped to an address without the Thumb bit", f"a wild jump: {_REPORT}"),
    (1 << 18, "corrupt exception return", f"a wild jump: {_REPORT}"),
    (
        1 << 19,
        "floating point or vector instruction while the unit is off or absent",
        "call the start-up code of the project, which sets CPACR",
    ),
    (1 << 24, "unaligned access", "align the arena and the weights as the generated code does"),
    (1 << 25, "division by zero", f"the function divides by zero: {_REPORT}"),
)
_ACCESS = 1 << 1 | 1 << 9  # DACCVIOL, PRECISERR
_HINT_LOOP = "if it hangs, the function named never ends; else take fewer samples or more --timeout"


def values(console: str) -> dict[str, int]:
    """Numbers of the lines "onnx2mcu KEY 0xVALUE"; the last one of a key counts."""
    return {key: int(text, 16) for key, text in _LINE.findall(console) if text.startswith("0x")}


def printed(console: str) -> str:
    """What the firmware printed besides the lines of the harness."""
    lines = console.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_OURS))


def last_line(console: str) -> str:
    """The last thing that was printed, quoted, or that there was nothing."""
    lines = [line for line in console.splitlines() if line.strip()]
    return f"last line seen: {lines[-1][:200]!r}" if lines else "nothing was printed"


@dataclass(frozen=True)
class Fault:
    """An exception of the core.

    Attributes:
        exception: Its number.
        cfsr: Configurable fault status register.
        address: Faulting data address, when the core knows it.
        pc: Faulting instruction, when it is known.
        near: A return address on an overflown stack.
        told: What the engine calls it; "" takes the registers above.
    """

    exception: int
    cfsr: int = 0
    address: int | None = None
    pc: int | None = None
    near: int | None = None
    told: str = ""

    @classmethod
    def of(cls, found: dict[str, int]) -> "Fault | None":
        """The fault the harness reported, if it did."""
        if "fault" not in found:
            return None
        cfsr = found.get("cfsr", 0)
        address = None
        if cfsr & _MMFAR_VALID:
            address = found.get("mmfar")
        elif cfsr & _BFAR_VALID:
            address = found.get("bfar")
        return cls(found["fault"], cfsr, address, found.get("pc"), found.get("near"))

    @property
    def details(self) -> str:
        """Names and registers, for who wants to look closer."""
        name = _EXCEPTIONS.get(self.exception, f"exception {self.exception}")
        told = self.told or f"{name}, CFSR 0x{self.cfsr:08X}"
        return told if self.pc is None else f"{told}, PC 0x{self.pc:08X}"


@dataclass(frozen=True)
class Scene:
    """What a failure is described with: the program, the board, the model."""

    elf: Elf
    board: Board
    model: FirmwareModel

    def place(self, address: int | None, layer: int | None) -> str:
        """Function and layer, as "glue_conv+0x12, layer /conv1".

        Args:
            address: In the code or the data; None when it is not known.
            layer: Index of the layer that ran; outside the model's layers: none did.
        """
        where = [] if address is None else [self.symbol(address)]
        layers = self.model.layers
        if layer is not None and 0 <= layer < len(layers):
            where.append(f"layer {layers[layer].name}")
        return ", ".join(where) or self.elf.path.name

    def symbol(self, address: int) -> str:
        """Function or object at an address, or the address."""
        address &= ~1
        return self.elf.symbol_at(address) or f"0x{address:08X}"

    def fault(self, fault: Fault, layer: int | None) -> RunFailed:
        """The fault as the error the user reads."""
        trap = self._trap(fault)
        if trap is not None:
            place, what, hint = trap
            where = self.place(place, layer)
            return RunFailed("emulate", where, f"{what} ({fault.details})", hint)
        at = fault.pc if fault.pc is not None else fault.near
        where = self.place(at, layer) if at is not None else self.place(None, layer)
        what, hint = self._cause(fault)
        return RunFailed("emulate", where, f"{what} ({fault.details})", hint)

    def canary(self, index: int, found: int, layer: int | None) -> RunFailed:
        """The error of bytes behind the arena that changed.

        Args:
            index: First byte behind the arena that is not what was put there; behind part n of it
                they count from n times CANARY_BYTES on.
            found: What it holds.
            layer: Layer that ran since the last look.
        """
        part, byte = divmod(index, CANARY_BYTES)
        arena = self.model.arenas[min(part, len(self.model.arenas) - 1)]
        what = f"byte {byte} behind it became 0x{found:02X}"
        reason = f"wrote past the end of {arena.symbol}: {what}"
        hint = (
            f"the plan needs {arena.nbytes} bytes: if {arena.symbol} is as long, a kernel writes "
            "past its output; report it with the model"
        )
        return RunFailed("emulate", self.place(None, layer), reason, hint)

    def status(self, status: int, layer: int | None) -> RunFailed:
        """The error of a kernel that refused its arguments.

        Args:
            status: What the model returned, as an unsigned word.
            layer: The layer.
        """
        signed = status - (status >> 31 << 32)
        reason = f"the model returned status {signed}"
        hint = "a kernel refused its arguments: convert again, or report it with the model"
        return RunFailed("emulate", self.place(None, layer), reason, hint)

    def late(
        self, seconds: float, sample: int, pc: int | None, layer: int | None, clock: str = ""
    ) -> RunFailed:
        """The error of a run that did not end.

        Args:
            seconds: Time it had.
            sample: Index of the sample it was at.
            pc: Where the core was.
            layer: The layer that ran.
            clock: Which time that is; "" on the wall.
        """
        reason = f"still running after {seconds:g} s{clock}, in sample {sample}"
        return RunFailed("emulate", self.place(pc, layer), reason, _HINT_LOOP)

    def _trap(self, fault: Fault) -> tuple[int, str, str] | None:
        """(address, what, hint) of an instruction that is there to stop the core; else None."""
        if fault.pc is None or fault.cfsr:
            return None
        at, before = fault.pc & ~1, (fault.pc & ~1) - _SVC_BYTES
        code, caller = self.elf.read(at, 2), self.elf.read(before, _SVC_BYTES)
        if caller[1:] == _SVC_OPCODE and fault.exception in (_SVC, _HARD_FAULT):
            what = f"executed SVC #{caller[0]}, a call of an operating system: there is none"
            return before, what, _HINT_SVC
        if code[1:] == _BKPT_OPCODE:
            what = f"executed BKPT #{code[0]}, a breakpoint, without a debugger"
            return at, what, _HINT_BKPT
        return None

    def _cause(self, fault: Fault) -> tuple[str, str]:
        address = fault.address
        if fault.cfsr & _STACKING or (address is not None and self._below_stack(address)):
            size = self.elf.address("__stack_top") - self.elf.address("__stack_limit")
            hint = "convert again with a larger --stack"
            return f"stack overflow: {size} bytes are not enough", hint
        if fault.cfsr & _ACCESS and address is not None:
            return self._access(address)
        for bit, text, hint in _CAUSES:
            if fault.cfsr & bit:
                return text, hint
        return "the core stopped on an exception", f"look at the function named: {_REPORT}"

    def _below_stack(self, address: int) -> bool:
        """Whether an address lies in the kilobytes under the stack."""
        limit = self.elf.address("__stack_limit")
        return limit - 4096 <= address < limit

    def _access(self, address: int) -> tuple[str, str]:
        ram, size = self.elf.address("__stack_limit"), self.board.ram.bytes
        if any(start <= address < start + len(data) for start, data in self.elf.segments):
            what = f"wrote to flash at 0x{address:08X} ({self.symbol(address)})"
            return what, f"constants are fixed: the function's pointer is wrong; {_REPORT}"
        if ram + size <= address < ram + (64 << 20):
            past = address - ram - size
            text = f"access to 0x{address:08X}, {past} bytes past the end of the board's RAM"
            return text, f"{self.board.name} has {size} bytes of RAM; {_REPORT}"
        text = f"access to 0x{address:08X}, where the firmware has no memory"
        return text, f"the function's pointer is wrong; {_REPORT}"


def judge(found: dict[str, int], scene: Scene) -> None:
    """Raise what the harness reported, if it reported a failure.

    Args:
        found: Values it printed.
        scene: What ran.
    """
    fault, layer = Fault.of(found), found.get("layer")
    if fault:
        raise scene.fault(fault, layer)
    if "canary" in found:
        raise scene.canary(found["canary"], found["found"], layer)
    if "status" in found:
        raise scene.status(found["status"], layer)
