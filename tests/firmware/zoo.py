"""The real models and the boards they run on."""

from tools.bench.nets import ZOO, Zoo

__all__ = ["BOARDS", "ZOO", "Zoo"]

BOARDS = {
    "M0+": "raspberry-pi-pico",
    "M3": "mps2-an385",
    "M4": "nucleo-f446re",
    "M7": "nucleo-h743zi",
    "M33": "nucleo-u575zi",
    "M55": "mps3-an547",
}
