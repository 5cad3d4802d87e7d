"""Every kernel on the host under sanitizers, and in the emulator, by the registry of kernels."""
