package io.lendstream.simulator.published;

import io.lendstream.simulator.published.StepTable.Point;
import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Step times between measurements at any number of nodes, of replicas and any local batch, linear within tetrahedra.
 *
 * <p>Measurements are the means over placements of as many nodes and replicas, and then those of
 * {@code scalability.csv}. They form a grid, which may be cut into tetrahedra in many ways. How Qhull cut it for the
 * published simulators, and which tetrahedron they found for a placement where several would do, is kept as a resource:
 * for a number of nodes and replicas the local batches from which on another tetrahedron counts, and its corners'
 * places in the order of measurements.
 *
 * @see <a href="https://doi.org/10.1145/235815.235821">Barber, Dobkin, Huhdanpaa: The Quickhull algorithm, 1996</a>
 */
final class StepGrid {
    private final List<Measurement> measurements;
    private final SortedLines corners;

    /** Where it was measured, and what. */
    private record Measurement(double nodes, double replicas, double localBatch, double seconds, double syncSeconds) {}

    private StepGrid(List<Measurement> measurements, SortedLines corners) {
        this.measurements = measurements;
        this.corners = corners;
    }

    /**
     * Lays the grid.
     *
     * @param folder of the application, with {@code scalability.csv}
     * @param placed measurements by placement, whose digits are the GPUs on each node
     */
    static StepGrid read(
            Path folder, String application, PublishedSettings.Timing timing, Map<Long, List<Point>> placed) {
        String name = "%s-%s.csv.gz".formatted(timing.name().toLowerCase(Locale.ROOT), application);
        InputStream resource = StepGrid.class.getResourceAsStream(name);
        if (resource == null) {
            throw new IllegalArgumentException(
                    "nothing is published of %s on five nodes and more, which this run needs; give fewer nodes"
                            .formatted(application));
        }
        SortedLines corners = SortedLines.read(resource);
        List<Measurement> measurements = means(placed, timing.mostGpusOfNode());
        for (CsvRow row : CsvTable.read(
                        folder.resolve("scalability.csv"),
                        "num_nodes",
                        "num_replicas",
                        "local_bsz",
                        "step_time",
                        "sync_time")
                .rows()) {
            measurements.add(new Measurement(
                    row.whole("num_nodes", 1),
                    row.whole("num_replicas", 1),
                    row.whole("local_bsz", 1),
                    row.number("step_time", 0),
                    row.number("sync_time", 0)));
        }
        int published = corners.floor(0, 0, 0).orElseThrow()[0];
        if (measurements.size() != published) {
            throw new IllegalArgumentException(
                    "%s has %d measurements of nodes, replicas and local batches, but the published traces have %d; give --profiles those"
                            .formatted(folder, measurements.size(), published));
        }
        return new StepGrid(measurements, corners);
    }

    private static List<Measurement> means(Map<Long, List<Point>> placed, int mostGpusOfNode) {
        Map<Measurement, List<Point>> groups = new TreeMap<>(Comparator.comparingDouble(Measurement::nodes)
                .thenComparingDouble(Measurement::replicas)
                .thenComparingDouble(Measurement::localBatch));
        placed.forEach((placement, points) -> {
            int[] gpus = String.valueOf(placement)
                    .chars()
                    .map(Character::getNumericValue)
                    .toArray();
            if (Arrays.stream(gpus).allMatch(each -> each <= mostGpusOfNode)) {
                points.forEach(point -> groups.computeIfAbsent(
                                new Measurement(gpus.length, StepTable.replicas(gpus), point.localBatch(), 0, 0),
                                any -> new ArrayList<>())
                        .add(point));
            }
        });
        List<Measurement> means = new ArrayList<>();
        groups.forEach((at, points) -> {
            double seconds = 0;
            double syncSeconds = 0;
            for (Point point : points) {
                seconds += point.seconds();
                syncSeconds += point.syncSeconds();
            }
            means.add(new Measurement(
                    at.nodes, at.replicas, at.localBatch, seconds / points.size(), syncSeconds / points.size()));
        });
        return means;
    }

    /** The step time there; none outside of the grid. */
    Optional<Point> at(int nodes, int replicas, int localBatch) {
        int[] found = corners.floor(nodes, replicas, localBatch).orElse(new int[0]);
        if (found.length == 0) {
            return Optional.empty();
        }
        Measurement[] corner = Arrays.stream(found).mapToObj(measurements::get).toArray(Measurement[]::new);
        Measurement here = new Measurement(nodes, replicas, localBatch, 0, 0);
        double whole = volume(corner);
        double seconds = 0;
        double syncSeconds = 0;
        for (int i = 0; i < corner.length; i++) {
            Measurement[] part = corner.clone();
            part[i] = here;
            double share = volume(part) / whole;
            seconds += share * corner[i].seconds;
            syncSeconds += share * corner[i].syncSeconds;
        }
        return Optional.of(new Point(localBatch, seconds, syncSeconds));
    }

    /** Six times the signed volume of a tetrahedron; exact, for coordinates are whole. */
    private static double volume(Measurement[] corner) {
        double[] a = edge(corner, 1);
        double[] b = edge(corner, 2);
        double[] c = edge(corner, 3);
        return a[0] * (b[1] * c[2] - b[2] * c[1])
                - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }

    private static double[] edge(Measurement[] corner, int to) {
        return new double[] {
            corner[to].nodes - corner[0].nodes,
            corner[to].replicas - corner[0].replicas,
            corner[to].localBatch - corner[0].localBatch
        };
    }
}
