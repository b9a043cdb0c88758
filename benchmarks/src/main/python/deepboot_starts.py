"""Runs DeepBoot's published simulator from several starting points of its online fit, to tell chance from error.

Usage: python deepboot_starts.py SOURCE WORKLOAD OUT [STARTS] [OPTION...]

SOURCE is a checkout of the authors' repository (github.com/czq693497091/DeepBoot, commit cc85a24) with its traces,
WORKLOAD a file such as workload/small.csv, OUT a directory for results. STARTS is the number of starts, 12 if not given.
Options of the simulator may follow; without any, the run is DeepBoot on shared GPUs without AFE:
--policy dp --min-nodes 16 --num-gpus 4 --AISS 1 --AFE 0.

Start k multiplies the starting point of every fit by 1 + k * 1e-9, and nothing else. The published figure of the small
workload without AFE, 2365 s, is of one run; this prints the average JCT of training jobs for each start, and their mean and
range, with which the figures of benchmarks/src/main/resources/.../published-reference.csv are compared.

Needs the packages of the authors' repository: numpy, scipy, autograd, pandas and pymoo. A start takes minutes of CPU time.
"""

import json
import pathlib
import runpy
import subprocess
import sys

STEP = 1e-9
OPTIONS = ["--policy", "dp", "--min-nodes", "16", "--num-gpus", "4", "--AISS", "1", "--AFE", "0"]


def play(start, arguments):
    """Runs simulator.py in the working directory, with every fit moved to a start."""
    import numpy
    import scipy.optimize

    if not hasattr(numpy, "int"):
        numpy.int = int  # the authors' NumPy still had it
    minimize = scipy.optimize.minimize

    def moved(function, first, *rest, **named):
        near = numpy.asarray(first, dtype=float) * (1 + start * STEP)
        bounds = named.get("bounds")
        if bounds is not None:
            near = numpy.clip(near, bounds.lb, bounds.ub)
        return minimize(function, near, *rest, **named)

    scipy.optimize.minimize = moved
    sys.path.insert(0, ".")
    sys.argv = ["simulator.py", *arguments]
    runpy.run_path("simulator.py", run_name="__main__")


def average(summary):
    """The average JCT of training jobs, of a summary.json of the simulator."""
    times = [time for name, time in json.loads(summary.read_text())["jcts"].items() if not name.startswith("inference-")]
    return sum(times) / len(times)


def main(source, workload, out, starts, options):
    averages = []
    for start in range(starts):
        folder = pathlib.Path(out).resolve() / f"start-{start}"
        folder.mkdir(parents=True, exist_ok=True)
        arguments = ["--workload", str(pathlib.Path(workload).resolve()), "--output", str(folder), *options]
        with open(folder.with_suffix(".log"), "w") as log:
            subprocess.run(
                [sys.executable, str(pathlib.Path(__file__).resolve()), "--start", str(start), *arguments],
                cwd=source,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=True,
            )
        averages.append(average(folder / "summary.json"))
        print(f"start {start:2d}: average JCT {averages[-1]:7.1f} s", flush=True)
    mean = sum(averages) / len(averages)
    print(f"{len(averages)} starts: mean {mean:.1f} s, {min(averages):.1f} to {max(averages):.1f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--start"]:
        play(int(sys.argv[2]), sys.argv[3:])
    elif len(sys.argv) < 4:
        sys.exit(__doc__)
    else:
        given = sys.argv[4:]
        count = int(given.pop(0)) if given and given[0].isdigit() else 12
        main(sys.argv[1], sys.argv[2], sys.argv[3], count, given or OPTIONS)
