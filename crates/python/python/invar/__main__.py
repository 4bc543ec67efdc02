"""``python -m invar`` is the command ``invar``."""

import sys

from ._command import main

sys.exit(main())
