"""`python -m sfumato.cli`: the command line where the script is not installed."""

import sys

from sfumato.cli import main

sys.exit(main())
