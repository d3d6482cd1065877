"""Text from anywhere, made safe to print: what an agent wrote must not steer a terminal."""

CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}  # what would steer the terminal
STEERING = {0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # … or turn the reading direction round
HOSTILE = {**CONTROL, **{code: f"\\u{code:04x}" for code in STEERING}, ord("\n"): " ", ord("\t"): " "}
HOSTILE_IN_LINES = {code: shown for code, shown in HOSTILE.items() if shown != " "}


def one_line(text: object) -> str:
    """Text from anywhere, safe to print within a line."""
    text = str(text)
    return text if text.isprintable() else text.replace("\r\n", " ").translate(HOSTILE)


def many_lines(text: object) -> str:
    """Text from anywhere, safe to print with its line breaks."""
    return str(text).replace("\r\n", "\n").translate(HOSTILE_IN_LINES)
