"""What an API server refuses in the names and numbers of ports."""

from __future__ import annotations

from dynamo_render.kube.patterns import pattern

LAST_PORT = 65535
LONGEST_PORT_NAME = 15

_PORT_NAME = pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def why_no_name(name: str) -> str | None:
    """Return why *name* is no name of a port, or None."""
    has_letter = any(character.isalpha() for character in name)
    if len(name) <= LONGEST_PORT_NAME and _PORT_NAME.fullmatch(name) and has_letter:
        return None
    wanted = "small letters, digits and single hyphens, at least one letter"
    return f'"{name}" is no legal port name: {wanted}, at most {LONGEST_PORT_NAME} characters'


def why_no_number(number: object) -> str | None:
    """Return why *number* is no port, or None."""
    is_port = isinstance(number, int) and 1 <= number <= LAST_PORT
    return None if is_port else f"must be a port from 1 to {LAST_PORT}, got {number}"


def why_no_port(port: object) -> str | None:
    """Return why *port* can be neither the name nor the number of a port, or None."""
    return why_no_name(port) if isinstance(port, str) else why_no_number(port)
