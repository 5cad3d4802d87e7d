"""STAND-IN for pyrenode3.wrappers and the .NET namespaces that come with it."""

import re
import struct
import sys
import types
from pathlib import Path

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm_const

from toolchain.run.thumb import branch_target, decode

_RX = unicorn.UC_PROT_ALL
_REGISTERS = [
    *(getattr(arm_const, f"UC_ARM_REG_R{number}") for number in range(13)),
    arm_const.UC_ARM_REG_SP,
    arm_const.UC_ARM_REG_LR,
    arm_const.UC_ARM_REG_PC,
]
_SLICE_US = 2_000_000
"""Long enough that only a hang meets it: the block it stops in would be counted twice."""
_BREAKPOINT = b"\xab\xbe"
_FOREVER = b"\xfe\xe7"  # B to itself
_WRITE0 = 4
_PAGE = 4096
_DATA = {"CMSDK_APB_UART": 0, "STM32_UART": 4, "STM32F7_USART": 0x28, "NRF52840_UART": 0x51C}
"""Offset of the register that sends."""


class _Event:
    """An event of .NET."""

    def __init__(self):
        self.calls = []

    def __iadd__(self, call):
        self.calls.append(call)
        return self


class _Port:
    def __init__(self):
        self.CharReceived = _Event()

    @property
    def internal(self):
        return self

    def send(self, byte):
        for call in self.CharReceived.calls:
            call(byte)


class _Profiler:
    """Call stacks: a BL opens a frame, arriving at its return address closes it."""

    def __init__(self, path, symbols):
        self.path, self.lines, self.symbols = Path(path), [], symbols
        self.stack, self.returns, self.written = [], [], 0

    def change(self, executed):
        if executed != self.written:
            self.lines.append(f"{';'.join(self.stack)} {executed - self.written}\n")
            self.written = executed

    def block(self, at, before, code, executed):
        if not self.stack:
            self.stack.append(self._name(at))
        elif self.returns and at == self.returns[-1]:
            self.change(executed)
            self.stack.pop()
            self.returns.pop()
        elif _calls(code):
            self.change(executed)
            self.stack.append(self._name(at))
            self.returns.append(before)

    def _name(self, at):
        return self.symbols.get(at, f"0x{at:X}")


def _calls(code):
    """Whether a block ends in BL or in BLX with a register."""
    *_, last = decode(code, 0)
    target = branch_target(last)
    return target[1] if target else last.second < 0 and last.first & 0xFF87 == 0x4780


def _length(code):
    position = number = 0
    while position < len(code):
        position += 4 if code[position + 1] >> 3 in (0x1D, 0x1E, 0x1F) else 2
        number += 1
    return number


class _Value:
    def __init__(self, value):
        self.RawValue = value


class _Bus:
    def __init__(self, core):
        self.core = core
        self.UnexpectedReads = self.UnexpectedWrites = 0

    def ReadDoubleWord(self, address):  # noqa: N802 - Renode's name
        return struct.unpack("<I", self.core.mem_read(address, 4))[0]

    def ReadBytes(self, address, size):  # noqa: N802
        return self.core.mem_read(address, size)

    def WriteBytes(self, data, address):  # noqa: N802
        self.core.mem_write(address, bytes(data))


class _Cpu:
    def __init__(self, core, kind):
        self.core, self.kind, self.hooks = core, kind, {}
        self.IsHalted = False
        self.executed = self.block = 0
        self.symbols, self.profiler = {}, None
        self.before, self.code = 0, b""
        core.hook_add(unicorn.UC_HOOK_BLOCK, self._count)

    def _count(self, core, address, size, _):
        code = bytes(core.mem_read(address, size))
        if code == _FOREVER and self.code == _FOREVER:
            core.emu_stop()  # nothing else will happen
        if self.profiler is not None:
            self.profiler.block(address, self.before, self.code, self.executed)
        self.before, self.code = address + size, code
        self.block = _length(code)
        self.executed += self.block

    def EnableProfilerCollapsedStack(self, path):  # noqa: N802
        self.profiler = _Profiler(path, self.symbols)

    def DisableProfiler(self):  # noqa: N802
        self.profiler.change(self.executed)
        self.profiler.path.write_text("".join(self.profiler.lines))
        self.profiler = None

    @property
    def ExecutedInstructions(self):  # noqa: N802
        return self.executed - self.block  # hooks stand at the start of a block

    @property
    def PC(self):  # noqa: N802
        return _Value(self.core.reg_read(arm_const.UC_ARM_REG_PC))

    def GetRegister(self, number):  # noqa: N802
        return _Value(self.core.reg_read(_REGISTERS[number]))

    def AddHook(self, address, delegate):  # noqa: N802
        assert isinstance(delegate, CpuAddressHook)

        def call(core, at, *_):
            if not self.IsHalted:
                delegate.function(self, at)
            if self.IsHalted:
                core.emu_stop()

        self.core.hook_add(unicorn.UC_HOOK_CODE, call, begin=address, end=address)


class CpuAddressHook:
    def __init__(self, function):
        self.function = function


class _Machine:
    def load_repl(self, path):
        text = Path(path).read_text()
        core = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        kind = re.search(r'cpuType: "cortex-m(\d+)', text)[1].replace("55", "33")
        core.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_CORTEX_M{kind}"))
        for origin, size in re.findall(r"MappedMemory @ sysbus (0x\w+)\n    size: (0x\w+)", text):
            start, end = int(origin, 16), int(origin, 16) + int(size, 16)
            core.mem_map(start & -4096, -(-end // 4096) * 4096 - (start & -4096), _RX)
        core.mem_map(0xE000E000, 4096)
        self.bus, self.cpu = _Bus(core), _Cpu(core, kind)
        core.hook_add(unicorn.UC_HOOK_MEM_UNMAPPED, self._unexpected)
        wrapper = types.SimpleNamespace
        self.console = _Port()
        assert "console: UART.SemihostingUart @ semihosting" in text
        core.hook_add(unicorn.UC_HOOK_INTR, self._semihosting)
        cpu = wrapper(internal=self.cpu, semihosting=wrapper(console=self.console))
        self.sysbus = wrapper(internal=self.bus, cpu=cpu)
        uart = re.search(r"uart: UART\.(\w+) @ sysbus <?(0x\w+)", text)
        if uart:
            self.sysbus.uart = self._uart(core, _DATA[uart[1]], int(uart[2], 16))

    def _semihosting(self, core, _number, _):
        pc = core.reg_read(arm_const.UC_ARM_REG_PC)
        if bytes(core.mem_read(pc, 2)) != _BREAKPOINT:
            core.emu_stop()
            return
        assert core.reg_read(arm_const.UC_ARM_REG_R0) == _WRITE0
        at = core.reg_read(arm_const.UC_ARM_REG_R1)
        while byte := core.mem_read(at, 1)[0]:
            self.console.send(byte)
            at += 1
        core.reg_write(arm_const.UC_ARM_REG_PC, (pc + 2) | 1)

    def _uart(self, core, offset, address):
        port, at = _Port(), address + offset
        core.mem_map(address & -_PAGE, _PAGE)
        hook = unicorn.UC_HOOK_MEM_WRITE
        core.hook_add(hook, lambda *a: port.send(a[4] & 0xFF), begin=at, end=at)
        return port

    def _unexpected(self, core, access, address, *_):
        if access == unicorn.UC_MEM_WRITE_UNMAPPED:
            self.bus.UnexpectedWrites += 1
        else:
            self.bus.UnexpectedReads += 1
        core.mem_map(address & -4096, 4096)
        return True

    def load_elf(self, path):
        with Path(path).open("rb") as stream:
            for segment in ELFFile(stream).iter_segments():
                if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]:
                    self.cpu.core.mem_write(segment["p_paddr"], segment.data())
            table = ELFFile(stream).get_section_by_name(".symtab")
            for symbol in table.iter_symbols() if table else ():
                if symbol["st_info"]["type"] == "STT_FUNC":
                    self.cpu.symbols[symbol["st_value"] & ~1] = symbol.name


class Emulation:
    current = None

    def clear(self):
        Emulation.current = None

    def add_mach(self, _name):
        Emulation.current = _Machine()
        self.started = False
        self.seconds = 0.0
        return Emulation.current

    @property
    def internal(self):
        return self

    @property
    def MasterTimeSource(self):  # noqa: N802
        time = types.SimpleNamespace(TotalSeconds=self.seconds)
        return types.SimpleNamespace(ElapsedVirtualTime=time)

    def RunFor(self, interval):  # noqa: N802
        assert isinstance(interval, _Interval)
        self.seconds += interval.seconds
        cpu = Emulation.current.cpu
        if cpu.IsHalted:
            return
        if not self.started:
            self.started = True
            words = cpu.core.mem_read(cpu.VectorTableOffset, 8)
            stack, entry = struct.unpack("<II", words)
            cpu.core.reg_write(arm_const.UC_ARM_REG_SP, stack)
            cpu.core.reg_write(arm_const.UC_ARM_REG_PC, entry)
        at = cpu.core.reg_read(arm_const.UC_ARM_REG_PC)
        cpu.core.emu_start(at | 1, 0xFFFFFFFF, timeout=_SLICE_US)


class _Interval:
    seconds = 1.0


def _module(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class _TimeInterval:
    @staticmethod
    def FromMicroseconds(number):  # noqa: N802
        interval = _Interval()
        interval.seconds = number / 1e6
        return interval


class _MonitorTimeExtensions:
    @staticmethod
    def SetGlobalAdvanceImmediately(_emulation, _value):  # noqa: N802
        pass


class _Assembly:
    def __init__(self, name, version):
        self.Name, self.Version = name, version

    def GetName(self):  # noqa: N802
        return self


class _AppDomain:
    class CurrentDomain:
        @staticmethod
        def GetAssemblies():  # noqa: N802
            return [_Assembly("Infrastructure", "1.0.0.0"), _Assembly("Renode", "1.16.1.4711")]


class _File:
    @staticmethod
    def ReadAllBytes(path):  # noqa: N802
        return Path(path).read_bytes()


for _name in ("Antmicro", "Antmicro.Renode", "Antmicro.Renode.Peripherals"):
    _module(_name)
_module("Antmicro.Renode.Peripherals.CPU", CpuAddressHook=CpuAddressHook)
_module("Antmicro.Renode.Time", TimeInterval=_TimeInterval)
_module("Antmicro.Renode.UserInterface", MonitorTimeExtensions=_MonitorTimeExtensions)
_module("System", UInt32=int, UInt64=int, AppDomain=_AppDomain)
_module("System.IO", File=_File)
