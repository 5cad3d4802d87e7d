"""The options of a conversion, for the commands that convert."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, get_type_hints

from toolchain.check.compare import Gates
from toolchain.cli import options as option
from toolchain.cli.values import named, ram_of, shapes_of
from toolchain.options import ConvertOptions
from toolchain.plan import Ram
from toolchain.quant.ranges import PERCENTILE
from toolchain.select import Optimize
from toolchain.solve import Limits


@dataclass(frozen=True)
class Quantisation:
    """What a command is told about data and ranges; a field is an option."""

    calib: option.CALIB = None
    calibration: option.METHOD = option.Calibration.MINMAX
    percentile: option.PERCENTILE = PERCENTILE
    weights: option.WEIGHTS = None
    pixel_scale: option.SCALE = 1.0
    shape: option.SHAPE = field(default_factory=list)
    outputs: option.OUTPUTS = field(default_factory=list)
    int16: option.INT16 = field(default_factory=list)
    int4: option.INT4 = field(default_factory=list)
    pure_int8: option.PURE = False

    def given(self) -> list[str]:
        """Names of the options that are not at their defaults."""
        default = type(self)()
        names = (f.name for f in fields(self))
        return [name for name in names if getattr(self, name) != getattr(default, name)]

    @property
    def refined(self) -> bool:
        """Weights are chosen by the outputs' error: as asked, else with automatic ranges."""
        if self.weights is None:
            return self.calibration is option.Calibration.AUTO
        return self.weights is option.Weights.AUTO

    def quantisation(self, max_samples: int | None = None) -> ConvertOptions:
        """The same as the pipeline takes it."""
        return ConvertOptions(
            method=self.calibration.value,
            percentile=self.percentile,
            refine_weights=self.refined,
            max_samples=max_samples,
            pixel_scale=self.pixel_scale,
            shapes=shapes_of(self.shape),
            outputs=tuple(self.outputs),
            int16=tuple(self.int16),
            int4=tuple(self.int4),
            pure_int8=self.pure_int8,
        )


@dataclass(frozen=True)
class Conversion(Quantisation):
    """What `convert` and `run` are told about the conversion; a field is an option."""

    prefix: option.PREFIX = ""
    kernels: option.KERNELS = None
    cmsis_nn_dir: option.ARM = None
    optimize: option.OPTIMIZE = Optimize.SPEED
    ram: option.RAM = Ram.AUTO.value
    arena_in: option.ARENA_IN = None
    weights_in: option.WEIGHTS_IN = None
    hot_weights: option.HOT = None
    input_rows: option.ROWS = False
    rounding: option.ROUNDING = option.RoundingRule.AUTO
    stack: option.STACK = 2048
    keep_inputs: option.KEEP = False
    no_prune: option.NO_PRUNE = False
    force: option.FORCE = False
    max_flash: option.MAX_FLASH = None
    max_ram: option.MAX_RAM = None
    max_latency_ms: option.MAX_LATENCY = None
    max_energy_uj: option.MAX_ENERGY = None
    explain: option.EXPLAIN = False

    @property
    def limits(self) -> Limits:
        """What the firmware may cost."""
        return Limits(self.max_flash, self.max_ram, self.max_latency_ms, self.max_energy_uj)

    @property
    def searched(self) -> bool:
        """The cheapest candidate is looked for; else the choices are taken as they are."""
        return self.explain or self.limits != Limits()

    def options(self, gates: Gates | None = None, max_samples: int | None = None) -> ConvertOptions:
        """The same as the pipeline takes it, with the gates on the calibration data."""
        return replace(
            self.quantisation(max_samples),
            prefix=self.prefix,
            kernels=self.kernels,
            cmsis_nn_dir=self.cmsis_nn_dir,
            stack_bytes=self.stack,
            keep_inputs=self.keep_inputs,
            gates=gates,
            force=self.force,
            prune=not self.no_prune,
            optimize=self.optimize,
            rounding=self.rounding.rounding,
            ram=ram_of(self.ram),
            by_rows=self.input_rows,
            arena_in=named("--arena-in", self.arena_in),
            weights_in=named("--weights-in", self.weights_in),
            hot_weights=named("--hot-weights", self.hot_weights),
        )


def with_conversion(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `conversion` is spelled out as one option per field of its type.

    Typer reads the options from the signature, which therefore names them all.
    """
    own = get_type_hints(command, include_extras=True)
    shared_type: type[Quantisation] = own["conversion"]
    shared = get_type_hints(shared_type, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "conversion":
            parameters.extend(
                inspect.Parameter(
                    f.name,
                    kind,
                    default=[] if f.default_factory is list else f.default,
                    annotation=shared[f.name],
                )
                for f in fields(shared_type)
            )
        else:
            parameters.append(parameter.replace(kind=kind, annotation=own[name]))

    @wraps(command)
    def spelled_out(**values: Any) -> None:
        made = shared_type(**{f.name: values.pop(f.name) for f in fields(shared_type)})
        command(conversion=made, **values)

    del spelled_out.__wrapped__
    spelled_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spelled_out.__annotations__ = {p.name: p.annotation for p in parameters}
    return spelled_out
