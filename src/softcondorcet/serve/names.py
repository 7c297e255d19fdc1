"""Names that come from outside: made one form of, and refused where a reader could not tell what they are."""

from __future__ import annotations

import unicodedata

# As long as a page shows in full.
LONGEST = 120
# Control, format (bidirectional and zero-width among them), surrogate, private and unassigned; lines and paragraphs.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class BadName(ValueError):  # noqa: N818
    """A name that is refused, and why."""


def name(text: str, what: str) -> str:
    """The same name in one form (NFC, single spaces), or why it is refused."""
    if text.isascii() and text.isprintable() and text == text.strip() and "  " not in text:
        made = text
    else:
        for letter in text:
            if unicodedata.category(letter) in _INVISIBLE:
                raise BadName(f"{what}: expected letters that can be seen, got U+{ord(letter):04X}")
        made = " ".join(unicodedata.normalize("NFC", text).split())
    if not made:
        raise BadName(f"{what}: expected a name, got nothing")
    if len(made) > LONGEST:
        raise BadName(f"{what}: expected at most {LONGEST} letters, got {len(made):,}")
    return made
