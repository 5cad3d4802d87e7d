"""The roofline of a core: MACs and bytes per cycle that no kernel can exceed.

Both are peaks of the instruction timings in Arm's Technical Reference Manuals: long load-multiples
from memory without wait states, and the densest multiply-accumulate the core has.
"""

from dataclasses import dataclass

from toolchain.board import Cpu


@dataclass(frozen=True, slots=True)
class Roof:
    """What a core does in a cycle at best.

    Args:
        macs: int8 multiply-accumulate operations per cycle.
        nbytes: Bytes loaded or stored per cycle.
    """

    macs: float
    nbytes: float

    def least_cycles(self, macs: int, nbytes: int) -> float:
        """Cycles below which so many MACs over so many bytes cannot be done."""
        return max(macs / self.macs, nbytes / self.nbytes)

    def bound(self, macs: int, nbytes: int) -> str:
        """What limits that work at best: "compute" or "memory"."""
        return "compute" if macs / self.macs >= nbytes / self.nbytes else "memory"


ROOFS: dict[Cpu, Roof] = {
    "cortex-m0": Roof(0.5, 4),
    "cortex-m0plus": Roof(0.5, 4),
    "cortex-m3": Roof(0.5, 4),
    "cortex-m4": Roof(2, 4),
    "cortex-m7": Roof(2, 8),
    "cortex-m33": Roof(2, 4),
    "cortex-m55": Roof(8, 8),
}
"""By core: MULS and ADDS, MLA in two cycles (M3), SMLAD (M4, M7, M33), VMLADAVA.S8 in two beats."""
