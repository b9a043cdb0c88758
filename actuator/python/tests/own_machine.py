"""The example job with workers that NCCL takes for machines of their own, so that it accepts several on one GPU.

They communicate by sockets. See train.py for the arguments.
"""

import os
import runpy
from pathlib import Path

os.environ["NCCL_HOSTID"] = f"worker-{os.getpid()}"
runpy.run_path(str(Path(__file__).parent.parent / "examples" / "train.py"), run_name="__main__")
