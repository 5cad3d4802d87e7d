"""onnx2mcu: ONNX models as verified int8 firmware for Arm Cortex-M, one stage per package."""
