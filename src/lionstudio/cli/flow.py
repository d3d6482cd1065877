"""`li flow`: agents in steps, as a file of anybody's asks for them."""

import os

from lionstudio.cli.command import Call
from lionstudio.cli.play import check_of, run_playbook
from lionstudio.domain.session import InvocationKind
from lionstudio.engines.playbook import load_playbook


def flow(call: Call) -> int:
    """li flow"""
    playbook = load_playbook(os.path.expanduser(call.args.flow), check_of(call))
    return run_playbook(call, playbook, kind=InvocationKind.FLOW.value, again=f"li flow {call.args.flow}")
