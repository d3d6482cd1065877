"""Text that both databases take. Apart from the JSON of encoding.py, because opening a database needs only this."""


def text_in(value: str | None) -> str | None:
    """Text that both databases take: NUL and lone surrogates become U+FFFD."""
    if value is None or (value.isascii() and "\0" not in value):
        return value
    if "\0" not in value:
        try:
            value.encode()
            return value
        except UnicodeEncodeError:
            pass
    return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
