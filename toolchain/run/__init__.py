"""Build the generated project and run it in an emulator."""

from toolchain.run.block_plugin import NoCounts
from toolchain.run.build import BuildResult, DoesNotFit, build, require_tools
from toolchain.run.callgraph import StackUse
from toolchain.run.console import printed
from toolchain.run.crosscheck import require_agreement
from toolchain.run.doctor import Check, doctor
from toolchain.run.elf import Elf, Sizes
from toolchain.run.emulator import Emulator, RunRequest, RunResult
from toolchain.run.engines import Kind, choose, engines
from toolchain.run.functions import Counted, count_blocks, count_functions, uncountable
from toolchain.run.program_checks import ProgramFacts, check_programs

__all__ = [
    "BuildResult",
    "Check",
    "Counted",
    "DoesNotFit",
    "Elf",
    "Emulator",
    "Kind",
    "NoCounts",
    "ProgramFacts",
    "RunRequest",
    "RunResult",
    "Sizes",
    "StackUse",
    "build",
    "check_programs",
    "choose",
    "count_blocks",
    "count_functions",
    "doctor",
    "engines",
    "printed",
    "require_agreement",
    "require_tools",
    "uncountable",
]
