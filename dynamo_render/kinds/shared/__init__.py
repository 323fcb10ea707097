"""What the planning of several kinds has in common; no kind knows another."""
