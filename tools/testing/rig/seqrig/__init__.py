# SPDX-License-Identifier: GPL-2.0
"""The two-guest rig. Imports the shared helpers of scripts/kit."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "scripts"))
