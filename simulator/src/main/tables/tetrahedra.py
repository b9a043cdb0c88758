"""Makes the resources that say between which measurements the published simulators interpolate step times.

Usage: python tetrahedra.py TRACES OUT

TRACES has a directory an application with placements.csv and scalability.csv, as DeepBoot publishes them; those of Pollux
are among them. OUT is src/main/resources/io/lendstream/simulator/published. Needs numpy and scipy, whose Qhull decides how
the grid of measurements is cut: see docs/adr/0012-engine-for-published-simulators.md. What is written are places of measurements in
their order, and no measurements.
"""

import csv
import gzip
import pathlib
import sys

import numpy
from scipy.spatial import Delaunay

LOCAL_BATCHES = {
    "bert": range(4, 13),
    "cifar10": range(32, 1025),
    "deepspeech2": range(10, 81),
    "imagenet": range(20, 201),
    "yolov3": range(4, 9),
}
GPUS_PER_NODE = 4
MOST_GPUS_OF_A_NODE = {"pollux": 4, "deepboot": 8}
OUTSIDE = -1


def points(folder, most):
    """Nodes, replicas and local batch of each measurement, in the order of the published simulators."""
    placed = set()
    with open(folder / "placements.csv", newline="") as file:
        for row in csv.DictReader(file):
            gpus = [int(digit) for digit in row["placement"]]
            if max(gpus) <= most:
                placed.add((len(gpus), sum(gpus), int(row["local_bsz"])))
    with open(folder / "scalability.csv", newline="") as file:
        rows = csv.DictReader(file)
        return sorted(placed) + [tuple(int(row[c]) for c in ("num_nodes", "num_replicas", "local_bsz")) for row in rows]


def lines(grid, batches):
    """How many measurements there are; then where along the local batches another tetrahedron begins, and its corners."""
    yield [0, 0, 0, len(grid)]
    cut = Delaunay(numpy.array(grid, float))
    for nodes in range(5, 17):
        for replicas in range(nodes, GPUS_PER_NODE * nodes + 1):
            before = None
            for batch in batches:
                # One query at a time: each then looks for its tetrahedron from the same start, as published.
                found = int(cut.find_simplex(numpy.array([[nodes, replicas, batch]], float))[0])
                if found != before:
                    corners = [] if found == OUTSIDE else cut.simplices[found]
                    yield [nodes, replicas, batch, *corners]
                    before = found


def main(traces, out):
    for timing, most in MOST_GPUS_OF_A_NODE.items():
        for application, batches in LOCAL_BATCHES.items():
            grid = points(traces / application, most)
            table = "".join(",".join(map(str, line)) + "\n" for line in lines(grid, batches))
            packed = gzip.compress(table.encode(), mtime=0)
            (out / f"{timing}-{application}.csv.gz").write_bytes(packed)
            print(timing, application, len(grid), "measurements", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
