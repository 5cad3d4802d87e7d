"""A converted project on disk: what `convert` writes and the later commands read."""

from toolchain.project.file import require_free, write_file
from toolchain.project.folder import (
    MANIFEST,
    MODEL,
    Project,
    taken_back_if_interrupted,
    written_aside,
)
from toolchain.project.manifest import BufferFacts, LayerFacts, Manifest
from toolchain.project.names import layer_names, layers_named, matching
from toolchain.project.record import Source, firmware_of, manifest_of, write_records

__all__ = [
    "MANIFEST",
    "MODEL",
    "BufferFacts",
    "LayerFacts",
    "Manifest",
    "Project",
    "Source",
    "firmware_of",
    "layer_names",
    "layers_named",
    "manifest_of",
    "matching",
    "require_free",
    "taken_back_if_interrupted",
    "write_file",
    "write_records",
    "written_aside",
]
