"""`python -m lionstudio` is the command `lionstudio`."""

import sys

from lionstudio.cli.main import main

sys.exit(main())
