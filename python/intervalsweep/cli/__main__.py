# SPDX-License-Identifier: Apache-2.0
"""`python -m intervalsweep.cli`, for when the command is not on the PATH."""

import sys

from intervalsweep.cli import main

sys.exit(main())
