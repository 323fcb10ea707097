"""What counts as a command and as a word of a shell script, and which scripts can follow another command."""

from __future__ import annotations

import pytest

from dynamo_render.backends import shell

SPLIT = [
    ("", [[]]),
    ("a b", [["a", "b"]]),
    ("a | b && c; d & e || f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
    ("a 'b | c' \"d; e\" f\\&g", [["a", "b | c", "d; e", "f&g"]]),
    ('a "say \\"hi\\" \\x"', [["a", 'say "hi" \\x']]),
    ("a 'it'\\''s'", [["a", "it's"]]),
    ("a \\\n  b\\\nc", [["a", "bc"]]),
    ("a # b; c\nd", [["a"], ["d"]]),
    ("a#b $#", [["a#b", "$#"]]),
    ("a $(b | c; d) e", [["a", "$(b | c; d)", "e"]]),
    ("a $(( 8 * $((X + 1)) )) b", [["a", "$(( 8 * $((X + 1)) ))", "b"]]),
    ('a "$(b "c d" | e)" f', [["a", '$(b "c d" | e)', "f"]]),
    ("a $(b # it's )\n) c", [["a", "$(b # it's )\n)", "c"]]),
    ("a `b | c` d", [["a", "`b | c`", "d"]]),
    ("a ${b:-c d;} e", [["a", "${b:-c d;}", "e"]]),
    ('a "${b:-it\'s}" c', [["a", "${b:-it's}", "c"]]),
    ("a $'it\\'s' b", [["a", "$'it\\'s'", "b"]]),
    ("a 2>&1 >b <c d", [["a", "d"]]),
    ("a >| b <<< c d", [["a", "d"]]),
    ("a <(b; c) d", [["a", "<(b; c)", "d"]]),
    ("(a b)", [[], ["a", "b"]]),
    ("cat <<EOF > f\nit's | x\nEOF\nb", [["cat"], ["b"]]),
    ("cat <<-'E F'\n\tx;\n\tE F\nb", [["cat"], ["b"]]),
    ("cat <<A <<B\n1'\nA\n2'\nB\nb", [["cat"], ["b"]]),
    ("cat <<A\nno end'", [["cat"]]),
]


@pytest.mark.parametrize(("script", "words"), SPLIT)
def test_a_script_is_split_as_a_shell_splits_it(script: str, words: list[list[str]]) -> None:
    assert [[word.value for word in command.words] for command in shell.commands(script)] == words


@pytest.mark.parametrize(
    "script", ["a 'b", 'a "b', "a `b", "a $(b", "a ${b", 'a "$(b"', "a \\", "\\", "a $'b", 'a "\\']
)
def test_an_unfinished_script_is_no_script(script: str) -> None:
    with pytest.raises(shell.Untokenizable):
        shell.commands(script)


def test_a_word_ends_before_the_line_continuation_behind_it() -> None:
    """Text that is put after a word must not come after the line break."""
    assert [word[:2] for word in shell.commands("ab\\\n  c")[0].words] == [(0, 2), (6, 7)]


def test_depth_is_no_limit() -> None:
    script = "a " + "$(" * 5000 + ")" * 5000
    assert len(shell.commands(script)[0].words) == 2


CHAINS = [
    ("a b", True),
    ("\n a | b && c 2>&1 \n\n", True),
    ("a;", True),
    ("a; b", False),
    ("a\nb", False),
    ("a || b", False),
    ("a & b", False),
    ("a &", False),
    ("a &> b", False),
    ("(a)", False),
    ("a &&", False),
    ("a '", False),
    ("", False),
    ("# only a comment", False),
]


@pytest.mark.parametrize(("script", "expected"), CHAINS)
def test_a_chain_is_one_unit_behind_another_command(script: str, expected: bool) -> None:  # noqa: FBT001
    assert shell.is_chain(script, frozenset({"&&", "|"})) is expected
