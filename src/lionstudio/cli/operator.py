"""Who types: the name that stands in events and histories."""


def operator() -> str:
    """The name of the account that runs this command."""
    import os
    import pwd

    user = os.geteuid()
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:  # an account without a name, as in a container
        return f"uid {user}"
