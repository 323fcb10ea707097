"""Random YAML: scalars of every look, keys, and small documents of all styles, right and wrong, made with a seed.

A text is what stands behind ``value:`` in a document; nothing here knows how anyone reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

WORDS = (
    *("yes", "no", "y", "n", "on", "off", "true", "false", "null", "~", "Null", "nan", "inf", "TRUE", "oN", "None"),
    *(".inf", "-.inf", "+.Inf", ".nan", ".NaN", "<<", "=", "-", "--", "---", "...", "?", ":", "a", "name", "x y", ""),
)
DATES = ("2001-01-01", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "12:30:45", "2001-13-45")
PUNCTUATION = "-+.:,?!&*#|>%@`'\"[]{}=~<_ \\/"
TAGS = ("!!str", "!!int", "!!float", "!!bool", "!!null", "!!binary", "!!map", "!!seq", "!!set", "!own", "!", "!!x")
ESCAPES = (*'0abtnvfre"/\\N_LP ', "x41", "u00e9", "U0001F600", "ud83d", "xZZ", "q", "u12")
DIGITS = "0123456789"


def cases(seed: int, count: int) -> Iterator[str]:
    """Yield *count* different texts that go behind ``value:`` of a document; the same for the same *seed*."""
    random = Random(seed)  # noqa: S311 - texts, no secrets
    makers = (*(scalar_line,) * 6, *(key_line,) * 3, *(small_document,) * 4)
    seen: set[str] = set()
    while len(seen) < count:
        text = random.choice(makers)(random)
        if text not in seen:
            seen.add(text)
            yield text


def scalar_line(random: Random) -> str:
    """Return a scalar on the line of its key."""
    return f" {scalar(random)}"


def key_line(random: Random) -> str:
    """Return a mapping whose key is a scalar of any look."""
    return f"\n  {scalar(random)}: {random.choice(('1', 'a', '', '[]'))}"


def scalar(random: Random) -> str:
    """Return a scalar, often one that looks like a number, a date or a word with a meaning."""
    made = random.choice(_SCALARS)(random)
    if random.random() < 0.08:
        made = f"{random.choice(TAGS)} {made}"
    if random.random() < 0.04:
        made += random.choice((" # note", "# no note", " #", "\t# note", " ", "\t"))
    return made


def _number(random: Random) -> str:
    sign = random.choice(("", "", "", "-", "+"))
    form = random.choice(("plain", "fraction", "power", "prefix", "parts", "noise"))
    digits = _some(random, DIGITS + "_" * (random.random() < 0.3), 1, random.choice((3, 5, 20, 25)))
    if form == "fraction":
        digits = f"{digits if random.random() < 0.7 else ''}.{_some(random, DIGITS + '_', 0, 6)}"
    elif form == "power":
        dot = random.choice(("", ".", ".5", ".5_0"))
        digits = f"{digits[:4]}{dot}{random.choice('eE')}{random.choice(('', '+', '-'))}{_some(random, DIGITS, 0, 3)}"
    elif form == "prefix":
        digits = random.choice(("0x", "0X", "0o", "0O", "0b", "0B", "0", "00")) + _some(random, "01234567_89abF", 0, 18)
    elif form == "parts":
        digits = ":".join(_some(random, DIGITS, 1, 3) for _ in range(random.randint(2, 4)))
    elif form == "noise":
        digits = _some(random, DIGITS + "._eE+-xob:", 1, 8)
    return sign + digits


def _word(random: Random) -> str:
    word = random.choice(WORDS)
    return random.choice((word, word.upper(), word.capitalize(), word.swapcase(), f"{word}{random.choice('s_.1 ')}"))


def _date(random: Random) -> str:
    date = list(random.choice(DATES))
    if random.random() < 0.4:
        date[random.randrange(len(date))] = random.choice("0139-: Tt.Zz+")
    return "".join(date)


def _noise(random: Random) -> str:
    return _some(random, PUNCTUATION + "ab1\u00e9\u2603", 1, 7)


def _single_quoted(random: Random) -> str:
    return "'" + _some(random, "ab1'' :#\"\\", 0, 6) + "'"


def _double_quoted(random: Random) -> str:
    parts = (random.choice(("a", "1", " ", ":", "#", "'", "\\" + random.choice(ESCAPES))) for _ in range(4))
    return f'"{"".join(parts)}"'


def _some(random: Random, alphabet: str, fewest: int, most: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(random.randint(fewest, most)))


_SCALARS: tuple[Callable[[Random], str], ...] = (
    *(_number,) * 5,
    *(_word,) * 2,
    _date,
    *(_noise,) * 2,
    _single_quoted,
    _double_quoted,
)


def small_document(random: Random) -> str:
    """Return a value of several lines or with collections in it."""
    made = random.choice((_block, _block, _flow, _literal, _lines, _anchored, _merged, _repeated))(random)
    return _damaged(made, random) if random.random() < 0.15 else made


def _block(random: Random, indent: int = 2, depth: int = 0) -> str:
    """Return a block mapping or sequence, deeper ones indented by any number of columns."""
    pad, lines = " " * indent, []
    is_sequence = random.random() < 0.4
    for key in _keys(random, random.randint(1, 3)):
        head = "-" if is_sequence else f"{key}:"
        if depth < 2 and random.random() < 0.35:
            entry = _block(random, indent + random.choice((1, 2, 2, 4)), depth + 1)
        else:
            entry = " " + random.choice((scalar, _flow_value))(random)
        lines.append(f"\n{pad}{head}{entry}")
        if random.random() < 0.1:
            lines.append(random.choice(("\n", "\n# note", f"\n{pad}# note", "\n\t", "\n   ")))
    return "".join(lines)


def _keys(random: Random, count: int) -> list[str]:
    """Return keys that are hardly ever the same: what overwrites a mistake would hide it from kubectl."""
    return [scalar(random) if random.random() < 0.25 else letter for letter in random.sample("abcdef", count)]


def _flow(random: Random) -> str:
    return " " + _flow_value(random)


def _flow_value(random: Random, depth: int = 0) -> str:
    if depth > 1 or random.random() < 0.4:
        return scalar(random).replace(" #", "") if random.random() < 0.8 else ""
    entries = [_flow_value(random, depth + 1) for _ in range(random.randint(0, 3))]
    comma = random.choice((",", ", ", " , ", ",\n    "))
    if random.random() < 0.5:
        return f"[{comma.join(entries)}{random.choice(('', '', ',', ' '))}]"
    colon = random.choice((": ", ": ", ":", " : "))
    pairs = (key + colon + entry for key, entry in zip(_keys(random, len(entries)), entries, strict=True))
    return f"{{{comma.join(pairs)}{random.choice(('', '', ','))}}}"


def _literal(random: Random) -> str:
    """Return a literal or folded block with any indicator, and lines that are indented more and less."""
    head = random.choice("|>") + random.choice(("", "", "-", "+")) + random.choice(("", "", "", "1", "2", "4", "0"))
    lines = [
        " " * random.choice((2, 2, 2, 3, 4, 0)) + random.choice(("a", "b c", "", "# d", "- e", "\tf", "g: h", "'"))
        for _ in range(random.randint(0, 4))
    ]
    return f" {head}{random.choice(('', '', ' # note', ' x'))}\n" + "\n".join(lines) + "\n" * random.randint(0, 2)


def _lines(random: Random) -> str:
    """Return a plain or quoted scalar of several lines."""
    quote = random.choice(("", "", "'", '"'))
    parts = [random.choice(("a", "b c", "1", "", "# d", "e: f", "- g", "\\", "h\\")) for _ in range(3)]
    return f" {quote}" + "\n  ".join(parts) + quote


def _anchored(random: Random) -> str:
    return (
        f"\n  a: &{random.choice(('x', 'x', 'y-1', ''))} {random.choice((scalar, _flow_value))(random)}"
        f"\n  b: *{random.choice(('x', 'x', 'y-1', 'z'))}"
        f"{random.choice(('', ' ', ': 1', chr(10) + '  *x : 2'))}"
    )


def _repeated(random: Random) -> str:
    """Return a mapping with a key twice, maybe once of another type."""
    key = scalar(random)
    return f"\n  {key}: 1\n  {random.choice((key, repr(key)))}: 2"


def _merged(random: Random) -> str:
    source = random.choice(("{b: 1, c: 2}", "[]", "5", "{<<: {d: 1}}", "null"))
    used = random.choice(("*x", "[*x, {e: 1}]", "[*x, *x]", "{c: 3}", "5", ""))
    return f"\n  a: &x {source}\n  m:\n    <<: {used}\n    {random.choice(('b: 2', 'z: 1', '<<: {q: 1}', '1: 1'))}"


def _damaged(text: str, random: Random) -> str:
    """Return *text* with one character taken out, put in or replaced."""
    at, new = random.randrange(len(text) + 1), random.choice(PUNCTUATION + "\n\t ab1")
    return random.choice((text[:at] + text[at + 1 :], text[:at] + new + text[at:], text[:at] + new + text[at + 1 :]))
