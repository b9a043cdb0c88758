"""The example job with groups that take a second to build, as on a busy machine; see train.py for the arguments."""

import runpy
import time
from pathlib import Path
from typing import Any

from lendstream_afe import membership


class SlowGroup(membership.Group):
    def __init__(self, *arguments: Any) -> None:
        time.sleep(1)
        super().__init__(*arguments)


membership.Group = SlowGroup
runpy.run_path(str(Path(__file__).parent.parent / "examples" / "train.py"), run_name="__main__")
