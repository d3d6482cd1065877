"""`li studio`: the server, from the terminal."""

import socket
from shlex import quote
from urllib.parse import urlsplit

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.domain.errors import InvalidRequest

EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})
TOKEN_FILE_LIMIT = 64 * 1024  # bytes; more is some other file


def studio(call: Call) -> None:
    """Serve until a signal says otherwise."""
    from lionstudio.server.app import create_app  # half a second, so only here
    from lionstudio.server.serving import StudioServer, listen, require_door

    args, out = call.args, call.out
    if not 0 <= args.port < 65_536:
        raise WrongUsage(f"{args.port} is not a port.", hint="Use a number from 1 to 65535, or 0 for any.")
    token = _read_token(args.token_file) if args.token_file else call.settings.token
    host = args.host.lower()
    name = _name(host)
    names = frozenset((name.lower(), *map(_without_port, args.allow_host or ())))
    door = require_door(host, names, token, token_from=args.token_file or "LIONAGI_TOKEN")
    call.ctx_made.db.dialect  # noqa: B018  opened here, so that what is wrong with it is said in one line
    call.close()
    with listen(host, args.port) as sock:
        address = f"http://{f'[{name}]' if ':' in name else name}:{sock.getsockname()[1]}"
        if args.port and sock.getsockname()[1] != args.port:
            out.say(f"Port {args.port} is taken, so this is the next one that is free.")

        def tell() -> None:
            out.say(f"Lion Studio is at {address}")
            out.say("Ctrl-C ends it; what is recorded goes on without it.")
            if args.open:
                _open_browser(address)

        StudioServer(create_app(call.settings, door), tell).serve_on(sock)


def _name(host: str) -> str:
    """How people find it; no browser can go to the address that means every address."""
    return socket.gethostname() if host in EVERY_ADDRESS else host


def _without_port(name: str) -> str:
    """A name that requests are meant for. A port in it would never match: any that leads here is as good."""
    is_bare_address = name.count(":") > 1 and not name.startswith("[")
    return name.lower() if is_bare_address else (urlsplit(f"//{name}").hostname or name.lower())


def _read_token(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(TOKEN_FILE_LIMIT).decode("ascii", "replace").strip()
    except OSError as error:
        raise InvalidRequest(
            f"The token cannot be read from {path}: {error.strerror}.",
            hint=f"Make one: openssl rand -hex 16 > {quote(path)}",
        ) from None


def _open_browser(address: str) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
