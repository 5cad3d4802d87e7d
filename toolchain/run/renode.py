"""placeholder"""
from pathlib import Path
from toolchain.run.build import BuildResult
from toolchain.run.emulator import RunRequest, RunResult
class Renode:
    name = "renode"
    def missing(self, cpu: str) -> str | None:
        return "x"
    def elf(self, build: BuildResult) -> Path:
        return build.hooks
    def run(self, request: RunRequest) -> RunResult:
        raise NotImplementedError
