"""Splits a shell script into its simple commands and their words, with positions, as far as inserting text needs it.

Quotes, backslashes, substitutions, comments, redirections and here-documents are understood, so that a separator inside
of them separates nothing. Nothing is expanded or judged: keywords such as ``if`` are words like any other, parentheses
are separators, and a substitution is a part of its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from dynamo_render.kube.patterns import pattern


class Untokenizable(ValueError):
    """The text ends inside of a quote, a substitution or an escape."""

    def __init__(self, at: int) -> None:
        """Say where the unfinished part is; *at* counts characters from 0."""
        super().__init__(f"the quote, substitution or escape at {at} has no end")


class Word(NamedTuple):
    """One word: its place in the script, and its text without quotes; substitutions stay as they are written."""

    start: int
    end: int
    value: str


class Command(NamedTuple):
    """The words of one simple command without its redirections, and the separator after it (empty at the end)."""

    words: tuple[Word, ...]
    ended_by: str


class _Token(NamedTuple):
    kind: Literal["word", "redirection", "separator"]
    start: int
    end: int
    text: str


_BLANK = pattern(r"(?:[ \t]|\\\n)+")
_COMMENT = pattern(r"#[^\n]*")
# `<(` and `>(` start a process substitution, which is a word; `&>` is two things to a POSIX shell and stays two here.
_REDIRECTION = pattern(r"[0-9]*(?:<<<|<<-|<<|<>|<&|<(?!\()|>>|>&|>\||>(?!\())")
_SEPARATOR = pattern(r"\n|&&|\|\||\|&|;;&|;;|;&|[;&|()]")
_WORD_PART = pattern(r"""[^ \t\n|&;()<>\\'"`$]+|\\.|\$\(|\$\{|\$'|\$|[<>]\(|['"`]""", re.DOTALL)
_NESTED_PART = pattern(r"""[^\\'"`$(){}#]+|\\.|\$\(|\$\{|\$'|.""", re.DOTALL)
_SINGLE = pattern(r"'[^']*'")
_ESCAPED_SINGLE = pattern(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKQUOTED = pattern(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_ESCAPE_IN_DOUBLE = pattern(r'\\([$`"\\])|\\\n')

_OPAQUE = {"'": _SINGLE, "$'": _ESCAPED_SINGLE, "`": _BACKQUOTED}
_CLOSER = {"$(": ")", "(": ")", "<(": ")", ">(": ")", "${": "}", '"': '"'}


def commands(script: str) -> tuple[Command, ...]:
    """Return the simple commands of *script* in order; one without words stands between two adjacent separators.

    Raises `Untokenizable`.
    """
    found: list[Command] = []
    words: list[Word] = []
    is_target = False
    for token in _tokens(script):
        if token.kind == "separator":
            found.append(Command(tuple(words), token.text))
            words = []
        elif token.kind == "word" and not is_target:
            words.append(Word(token.start, token.end, token.text))
        is_target = token.kind == "redirection"
    return (*found, Command(tuple(words), "")) if words or not found else tuple(found)


def is_chain(script: str, connectors: frozenset[str]) -> bool:
    """Tell whether *script* is simple commands between *connectors*, and nothing else but blank lines around them.

    Such a script may follow another command on its line and still is one unit. False for what cannot be tokenized.
    """
    try:
        parts = [part for part in commands(script) if part.words or part.ended_by != "\n"]
    except Untokenizable:
        return False
    if not parts or not all(part.words for part in parts):
        return False
    return parts[-1].ended_by in ("", "\n", ";") and all(part.ended_by in connectors for part in parts[:-1])


def _tokens(script: str) -> Iterator[_Token]:
    at = 0
    before = _Token("separator", 0, 0, "")
    here_documents: list[tuple[str, bool]] = []
    while at < len(script):
        if skipped := _BLANK.match(script, at) or _COMMENT.match(script, at):
            at = skipped.end()
            continue
        token = _token(script, at)
        yield token
        at = token.end
        if before.text.lstrip("0123456789") in ("<<", "<<-") and before.kind == "redirection":
            here_documents.append((token.text, before.text.endswith("-")))
        elif token.text == "\n" and here_documents:
            at = _after_here_documents(script, at, here_documents)
            here_documents = []
        before = token


def _token(script: str, at: int) -> _Token:
    if operator := _REDIRECTION.match(script, at):
        return _Token("redirection", at, operator.end(), operator[0])
    if operator := _SEPARATOR.match(script, at):
        return _Token("separator", at, operator.end(), operator[0])
    return _word(script, at)


def _word(script: str, start: int) -> _Token:
    """Return the word at *start*; line continuations at its end are not its part, so that text can be put after it."""
    value = ""
    at = end = start
    while part := _WORD_PART.match(script, at):
        at = _after_part(script, at, part[0])
        if part[0] != "\\\n":
            value += _unquoted(script[part.start() : at])
            end = at
    if script.startswith("\\", at):
        raise Untokenizable(at)
    return _Token("word", start, end, value)


def _unquoted(part: str) -> str:
    if part.startswith("\\"):
        return part[1:]
    if part.startswith("'"):
        return part[1:-1]
    if part.startswith('"'):
        return _ESCAPE_IN_DOUBLE.sub(lambda escape: escape[1] or "", part[1:-1])
    return part


def _after_part(script: str, at: int, opener: str) -> int:
    """Return the position after the quote, substitution or plain text that starts at *at* with *opener*."""
    if opener in _OPAQUE:
        return _after_opaque(script, at, opener)
    if opener in _CLOSER:
        return _after_nested(script, at + len(opener), opener)
    return at + len(opener)


def _after_opaque(script: str, at: int, opener: str) -> int:
    if quoted := _OPAQUE[opener].match(script, at):
        return quoted.end()
    raise Untokenizable(at)


def _after_nested(script: str, at: int, opener: str) -> int:
    """Return the position after the closer of *opener*, passing over everything that is nested.

    A stack instead of recursion, because the depth is the user's choice. Its entries say which text closes a level, and
    whether a single quote means itself there.
    """
    start = at
    levels = [(_CLOSER[opener], opener == '"')]
    while levels:
        part = _NESTED_PART.match(script, at)
        if part is None:
            raise Untokenizable(start)
        closer, literal = levels[-1]
        opener = part[0]
        at = part.end()
        if opener == closer:
            levels.pop()
        elif opener in ("$(", '"') or (opener == "(" and closer == ")"):
            levels.append((_CLOSER[opener], opener == '"'))
        elif opener == "${":
            levels.append(("}", literal))
        elif opener == "`" or (opener in _OPAQUE and not literal):
            at = _after_opaque(script, part.start(), opener)
        elif opener == "#" and closer == ")" and script[part.start() - 1] in " \t\n;|&(":
            at = _after_comment(script, part.start())
    return at


def _after_comment(script: str, at: int) -> int:
    comment = _COMMENT.match(script, at)
    return comment.end() if comment else at


def _after_here_documents(script: str, at: int, waiting: list[tuple[str, bool]]) -> int:
    """Return the position after the bodies of the documents that *waiting* names; an unfinished one ends the script."""
    for delimiter, strips_tabs in waiting:
        line = None
        while at < len(script) and line != delimiter:
            end = script.find("\n", at)
            end = len(script) if end < 0 else end
            line = script[at:end].lstrip("\t") if strips_tabs else script[at:end]
            at = min(end + 1, len(script))
    return at
