"""Reading: ONNX files, their inputs and sample data, and the float run of the original model."""
