"""Frozen values that the plan stage hands to the builders. They hold every decision and take none."""
