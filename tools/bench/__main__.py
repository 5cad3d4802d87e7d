"""`python -m tools.bench models|kernels|quality`: measure, and rewrite what is committed."""

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from toolchain.board import Isa
from toolchain.run.doctor import doctor
from toolchain.select import load_costs, save_costs
from tools.bench import table
from tools.bench.cells import (
    BOARDS,
    FAMILIES,
    NETS,
    cmsis_nn_folder,
    compiler,
    measure,
    model_path,
    models_folder,
)
from tools.bench.figures import BENCH, Bench, Cells, save
from tools.bench.kernels import measure_kernels
from tools.bench.quality import RESULTS, measure_all
from tools.bench.quality import save as save_quality
from tools.bench.quality_page import PAGE, markdown


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("what", choices=("models", "kernels", "quality"))
    parser.add_argument(
        "--isa", action="append", type=Isa, choices=list(Isa), help="kernels: only these cores"
    )
    parser.add_argument(
        "--operator", action="append", default=[], help="kernels: only of these operators"
    )
    arguments = parser.parse_args()
    if arguments.what == "quality":
        models = models_folder()
        if not models.is_dir():
            sys.exit(f"error: {models} is absent: set ONNX2MCU_SHARED")
        results = measure_all(models.parent)
        save_quality(results)
        PAGE.write_text(markdown(results), encoding="utf-8")
        print(f"written: {RESULTS}, {PAGE}")
        return
    with tempfile.TemporaryDirectory(prefix="onnx2mcu-bench-") as folder:
        if arguments.what == "kernels":
            for isa in arguments.isa or list(Isa):
                found = measure_kernels(Path(folder), isa, load_costs(), arguments.operator)
                save_costs(found)
        else:
            _models(Path(folder))


def _models(folder: Path) -> None:
    models = models_folder()
    for reason, absent in (
        (f"{models} is absent: set ONNX2MCU_SHARED", not models.is_dir()),
        ("the bakenn package, which carries CMSIS-NN, is absent", cmsis_nn_folder() is None),
    ):
        if absent:
            sys.exit(f"error: {reason}")
    cells: Cells = {}
    for net in NETS:
        for core in BOARDS:
            for family in FAMILIES:
                path = model_path(models, net)
                figures = measure(path, core, family, folder / "project", exact=True)
                cells.setdefault(net, {}).setdefault(core, {})[family.value] = figures
                print(f"{net:4}{core:4}{family:9}{figures.instructions:13,} instructions")
    bench = Bench(compiler(), _emulators(), cells)
    save(bench)
    table.update(bench)
    print(f"written: {BENCH}, {table.DOCUMENT}")


def _emulators() -> str:
    """Engines and versions."""
    (check,) = (check for check in doctor() if check.name == "qemu")
    return f"Unicorn {version('unicorn')} (M55: QEMU {check.detail.split()[0]})"


if __name__ == "__main__":
    main()
