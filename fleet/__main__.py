"""``python -m fleet`` is ``gpu-fleet``."""

from __future__ import annotations

import sys

from fleet.cli import main

sys.exit(main())
