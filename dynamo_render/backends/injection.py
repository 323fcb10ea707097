"""Changed copies of a container, foremost with flags in its Python command (rendering.md §15.5). Knows no framework.

Python may be started directly, by a shell, or by some text that looks like it. Two text rules exist: the shipped one
cuts the text at every ``|``, ``&`` and ``;``; the shell-safe one does the same to shell commands and their words, so
that a quoted separator separates nothing and a valid script stays one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from dynamo_render.backends import shell
from dynamo_render.backends.contract import Container
from dynamo_render.kube.patterns import pattern
from dynamo_render.values import Value, frozen

_DIRECT_PYTHON = pattern(r"(?:[^\n]*/)?python[0-9]*(?:\.[0-9]+)*")
_PYTHON_WORD = pattern(r"\S*python[0-9.]*")
_SEGMENT = pattern(r"[^|&;]+")
_PYTHON = pattern(r"python[0-9.]*[ \t\n\f\r]")
_END_OF_WORD = pattern(r"[ \t\n\f\r]|\Z")

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_OPTIONS_WITH_VALUE = frozenset({"--rcfile", "--init-file"})

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


@frozen
class Flags(Value):
    """Flags for one role: *text* as a shell reads it, *keyword* marks the words they may follow.

    *need_shell* tells that *text* is only right after a shell has evaluated it.
    """

    keyword: str
    text: str
    need_shell: bool = False


def words_of(container: Container) -> tuple[list[str], list[str]]:
    """Return command and arguments; a missing one is an empty list."""
    return container.get("command") or [], container.get("args") or []


def with_command(container: Container, command: Sequence[str], args: Sequence[str]) -> Container:
    """Return a copy that runs *command* with *args*; an empty one of them has no key."""
    changed = dict(container)
    for key, words in (("command", command), ("args", args)):
        changed.pop(key, None)
        if words:
            changed[key] = list(words)
    return changed


def present(container: Container, keys: Iterable[str]) -> tuple[str, ...]:
    """Return those of *keys* that *container* has."""
    return tuple(key for key in keys if key in container)


def without(container: Container, keys: Iterable[str]) -> Container:
    """Return a copy that lacks *keys*."""
    dropped = frozenset(keys)
    return {key: value for key, value in container.items() if key not in dropped}


def with_env(container: Container, name: str, value: str, *, user_wins: bool) -> Container:
    """Return a copy whose last variable is *name*; with *user_wins* an existing one of that name stays instead."""
    env = container.get("env") or []
    if user_wins and any(entry.get("name") == name for entry in env):
        return container
    return {**container, "env": [*env, {"name": name, "value": value}]}


def is_direct_python(words: Sequence[str]) -> bool:
    """Tell whether the first of *words* is the path of a Python interpreter."""
    return bool(words) and _DIRECT_PYTHON.fullmatch(words[0]) is not None


def tokens(args: Iterable[str]) -> tuple[str, ...]:
    """Return everything between whitespace in *args*, quotes included."""
    return tuple(token for element in args for token in element.split())


def quoted(words: Iterable[str]) -> str:
    """Return *words* as shell text that stands for exactly these words."""
    return " ".join(map(shlex.quote, words))


def script_position(words: Sequence[str]) -> int | None:
    """Return the index of the script in words like ``bash -lc <script>``, also behind a wrapper such as ``env``.

    None when no shell is started with ``-c``; the words after a Python interpreter are its own.
    """
    for index, word in enumerate(words):
        if is_direct_python((word,)):
            return None
        if word.rpartition("/")[2] in _SHELLS:
            return _after_options(words, index + 1)
    return None


def with_flags(container: Container, flags: Flags, *, shell_safe: bool) -> Container:
    """Return a copy whose Python command has *flags*, or *container* itself when it has no such command."""
    command, args = words_of(container)
    if is_direct_python(command):
        return _with_flags_at_end(container, flags, shell_safe=shell_safe)
    rule = flags_in_script if shell_safe else flags_in_text
    for index, element in enumerate(args):
        changed = rule(element, flags)
        if changed != element:
            return with_command(container, command, [*args[:index], changed, *args[index + 1 :]])
    position = script_position(command) if shell_safe else None
    if position is None:
        return container
    script = flags_in_script(command[position], flags)
    return with_command(container, [*command[:position], script, *command[position + 1 :]], args)


def flags_in_text(text: str, flags: Flags) -> str:
    """Return *text* with the flags behind the last word with the keyword of every part that starts Python before it."""
    return _SEGMENT.sub(lambda segment: _flags_in_segment(segment[0], flags), text)


def flags_in_script(script: str, flags: Flags) -> str:
    """Return *script* with the flags inside each of its Python commands; a valid shell script stays valid.

    A text that is no script, because a quote has no end, gets the treatment of `flags_in_text`.
    """
    try:
        return _flags_in_commands(script, flags)
    except shell.Untokenizable:
        return flags_in_text(script, flags)


def _with_flags_at_end(container: Container, flags: Flags, *, shell_safe: bool) -> Container:
    command, args = words_of(container)
    if not flags.need_shell:
        return with_command(container, command, [*args, *flags.text.split()])
    words = [*command, *args]
    started = quoted(words) if shell_safe else " ".join(words)
    return with_command(container, ["sh", "-c"], [f"exec {started} {flags.text}"])


def _after_options(words: Sequence[str], start: int) -> int | None:
    """Return the index of the first word after a shell's options, if ``-c`` is one of them."""
    has_script = False
    index = start
    while index < len(words):
        word = words[index]
        index += 1
        if word.startswith("--") and word != "--":
            index += word in _OPTIONS_WITH_VALUE
        elif word not in ("-", "--") and word[:1] in ("-", "+"):
            has_script = has_script or (word[0] == "-" and "c" in word)
            index += word.count("o") + word.count("O")
        else:
            index -= word not in ("-", "--")
            break
    return index if has_script and index < len(words) else None


def _flags_in_segment(segment: str, flags: Flags) -> str:
    python = _PYTHON.search(segment)
    keyword = segment.rfind(flags.keyword)
    if python is None or keyword < python.end():
        return segment
    end = _END_OF_WORD.search(segment, keyword + len(flags.keyword))
    place = end.start() if end else len(segment)
    return f"{segment[:place]} {flags.text}{segment[place:]}"


def _flags_in_commands(script: str, flags: Flags) -> str:
    for command in reversed(shell.commands(script)):
        script = _flags_in_nested(script, command.words, flags) or _flags_after_keyword(script, command.words, flags)
    return script


def _flags_after_keyword(script: str, words: Sequence[shell.Word], flags: Flags) -> str:
    """Return *script* with the flags behind the last of *words* that has the keyword and follows a Python word."""
    python = next((index for index, word in enumerate(words) if _PYTHON_WORD.fullmatch(word.value)), len(words))
    place = max((word.end for word in words[python + 1 :] if flags.keyword in word.value), default=None)
    return script if place is None else f"{script[:place]} {flags.text}{script[place:]}"


def _flags_in_nested(script: str, words: Sequence[shell.Word], flags: Flags) -> str | None:
    """Return *script* with the flags inside the quotes of ``bash -c "…"`` among *words*; None without such quotes."""
    position = script_position([word.value for word in words])
    if position is None or "'" in flags.text or '"' in flags.text:
        return None
    start, end, _ = words[position]
    quote = script[start]
    inner = script[start + 1 : end - 1]
    # Between double quotes a backslash or a backquote means two things at once; such a script is left as it is.
    if quote not in "'\"" or script[end - 1] != quote or any(sign in inner for sign in (quote, "\\", "`")):
        return None
    try:
        changed = _flags_in_commands(inner, flags)
    except shell.Untokenizable:
        return None
    return None if changed == inner else f"{script[: start + 1]}{changed}{script[end - 1 :]}"
