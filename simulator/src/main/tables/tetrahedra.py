"""Makes the tables of step times on five nodes and more that a replay in Pollux's published timing reads.

Usage: python ge5nodes.py TRACES OUT

TRACES has a directory an application with placements.csv (or DeepBoot's origin_placements.csv, which is Pollux's) and
scalability.csv; OUT is best interpolation-pollux beside it. Needs numpy and scipy, whose Qhull decides how the grid of
measurements is cut: see docs/adr/0012-published-simulators.md.
"""

import collections
import csv
import gzip
import pathlib
import sys

import numpy
from scipy.interpolate import LinearNDInterpolator

LOCAL_BATCHES = {
    "bert": range(4, 13),
    "cifar10": range(32, 1025),
    "deepspeech2": range(10, 81),
    "imagenet": range(20, 201),
    "yolov3": range(4, 9),
}
GPUS_PER_NODE = 4
HEADER = ["num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"]


def measurements(folder):
    """Points (nodes, replicas, local batch) and mean times there, in the order of the published simulator."""
    original = folder / "origin_placements.csv"
    times = collections.defaultdict(list)
    with open(original if original.exists() else folder / "placements.csv", newline="") as file:
        for row in csv.DictReader(file):
            digits = row["placement"]
            key = len(digits), sum(map(int, digits)), int(row["local_bsz"])
            times[key].append((float(row["step_time"]), float(row["sync_time"])))
    points = [(key, numpy.mean(times[key], axis=0)) for key in sorted(times)]
    with open(folder / "scalability.csv", newline="") as file:
        for row in csv.DictReader(file):
            values = [float(row[column]) for column in HEADER]
            points.append((values[:3], values[3:]))
    return points


def main(traces, out):
    out.mkdir(parents=True, exist_ok=True)
    for application, batches in LOCAL_BATCHES.items():
        points = measurements(traces / application)
        between = LinearNDInterpolator(
            numpy.array([point for point, _ in points], float), numpy.array([times for _, times in points])
        )
        with gzip.open(out / f"{application}-ge5nodes.csv.gz", "wt") as table:
            table.write(",".join(HEADER) + "\n")
            for nodes in range(5, 17):
                for replicas in range(nodes, GPUS_PER_NODE * nodes + 1):
                    for batch in batches:
                        # One query at a time: each then looks for its tetrahedron from the same start, as published.
                        step, sync = between([nodes, replicas, batch])[0]
                        if step == step:
                            table.write(f"{nodes},{replicas},{batch},{float(step)!r},{float(sync)!r}\n")
        print(application, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
