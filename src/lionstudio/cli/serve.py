"""`li studio`: the server, from the terminal."""

import socket

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.domain.errors import InvalidRequest

TOKEN_LENGTH = 16  # characters; a shorter one could be guessed


def studio(call: Call) -> None:
    """Serve until a signal says otherwise."""
    from lionstudio.server.app import create_app  # half a second, so only here
    from lionstudio.server.serving import StudioServer, listen, require_door

    args, out = call.args, call.out
    if not 0 <= args.port < 65_536:
        raise WrongUsage(f"{args.port} is not a port.", hint="Use a number from 1 to 65535, or 0 for any.")
    token = _read_token(args.token_file) if args.token_file else call.settings.token
    door = require_door(args.host, frozenset(name.lower() for name in args.allow_host or ()), token)
    call.ctx_made.db.dialect  # noqa: B018  opened here, so that what is wrong with it is said in one line
    call.close()
    with listen(args.host, args.port) as sock:
        address = _address(sock, args.host)
        if args.port and sock.getsockname()[1] != args.port:
            out.say(f"Port {args.port} is taken, so this is the next one that is free.")

        def tell() -> None:
            out.say(f"Lion Studio is at {address}")
            out.say("Ctrl-C ends it; what is recorded goes on without it.")
            if args.open:
                _open_browser(address)

        StudioServer(create_app(call.settings, door), tell).serve_on(sock)


def _address(sock: socket.socket, host: str) -> str:
    """Where people find it; no browser can go to the address that means every address."""
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{sock.getsockname()[1]}"


def _read_token(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        token = file.read(4_096).strip()
    if len(token) < TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidRequest(
            f"{path} does not hold a token.",
            hint=f"Write one line of at least {TOKEN_LENGTH} letters and digits: openssl rand -hex 16",
        )
    return token


def _open_browser(address: str) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
