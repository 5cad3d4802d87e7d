"""STAND-IN for pyrenode3.wrappers and the .NET namespaces that come with it."""

import re
import struct
import sys
import types
from pathlib import Path

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm_const

_RX = unicorn.UC_PROT_ALL
_REGISTERS = [
    *(getattr(arm_const, f"UC_ARM_REG_R{number}") for number in range(13)),
    arm_const.UC_ARM_REG_SP,
    arm_const.UC_ARM_REG_LR,
    arm_const.UC_ARM_REG_PC,
]
_SLICE_US = 2_000_000
"""Long enough that only a hang meets it: the block it stops in would be counted twice."""


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
        core.hook_add(unicorn.UC_HOOK_BLOCK, self._count)

    def _count(self, core, address, size, _):
        self.block = _length(bytes(core.mem_read(address, size)))
        self.executed += self.block

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
        self.sysbus = wrapper(internal=self.bus, cpu=wrapper(internal=self.cpu))

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


class Emulation:
    current = None

    def clear(self):
        Emulation.current = None

    def add_mach(self, _name):
        Emulation.current = _Machine()
        self.started = False
        return Emulation.current

    @property
    def internal(self):
        return self

    def RunFor(self, interval):  # noqa: N802
        assert isinstance(interval, _Interval)
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
    pass


def _module(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class _TimeInterval:
    @staticmethod
    def FromMicroseconds(_number):  # noqa: N802
        return _Interval()


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
