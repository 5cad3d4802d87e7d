"""Figures of others that ours are compared with."""

TFLM_SOURCE = (
    "TensorFlow Lite Micro 90b983c (2026-08-20) with CMSIS-NN 99f736a (2026-07-15), -O3, "
    "arm-none-eabi-gcc 12.2.1, QEMU 7.2.22, executed instructions of one inference"
)
TFLM = {
    "kws": {"M4": 7_846_060, "M55": 1_786_154},
    "ic": {"M4": 29_874_944, "M55": 4_811_882},
    "vww": {"M4": 24_720_990, "M55": 6_434_276},
    "ad": {"M4": 582_547, "M55": 150_205},
}

DIRECT_SOURCE = "the same CMSIS-NN and compiler, its functions called without an interpreter, -O3"
DIRECT = {
    "kws": {"M0+": 29_001_436, "M3": 10_542_027, "M7": 7_757_907},
    "ic": {"M0+": 97_565_138, "M3": 41_753_575, "M7": 29_933_080},
    "vww": {"M0+": 86_865_902, "M3": 32_073_385, "M7": 24_473_919},
    "ad": {"M0+": 1_758_750, "M3": 952_805, "M7": 579_485},
}

CYCLES_SOURCE = (
    "best public MLPerf Tiny entries on a Cortex-M4 (NUCLEO-L4R5ZI, 120 MHz; measured time times "
    "clock): ST X-CUBE-AI 9.0 in round v1.2, and for ad Plumerai 2023.05 in round v1.1"
)
CYCLES = {"kws": 5_180_000, "ic": 19_820_000, "vww": 10_670_000, "ad": 486_000}


def published(net: str, core: str) -> tuple[int, str] | None:
    """(instructions, footnote) of the published figure for a model on a core."""
    if core in TFLM[net]:
        return TFLM[net][core], "TFLM"
    if core in DIRECT[net]:
        return DIRECT[net][core], "direct"
    return None
