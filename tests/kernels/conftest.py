# SPDX-License-Identifier: Apache-2.0
"""These tests need no Spark session."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
