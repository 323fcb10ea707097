"""Figures that tell how fast rendering is; no test asserts them."""
