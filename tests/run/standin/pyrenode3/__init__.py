"""STAND-IN for pyrenode3, not the real one: just enough of Renode's interface for the tests.

The core is Unicorn's. It shows that the session drives the interface as the interface is described;
it proves nothing about Renode.
"""
