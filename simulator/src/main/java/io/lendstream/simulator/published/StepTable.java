package io.lendstream.simulator.published;

import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Step times of an application as the published simulators look them up: up to four nodes a measured placement,
 * interpolated linearly in the local batch; above, the {@link StepGrid} of all measurements.
 *
 * <p>On five nodes the published interpolation leans on rows that repeat measurements of smaller jobs, so that times
 * there are partly too short. They are taken as they are.
 */
final class StepTable {
    private static final int LARGEST_MEASURED = 4;
    private static final int MOST_NODES = 16;

    /** Seconds of a step and the part of it that waits for synchronisation, at a local batch. */
    record Point(int localBatch, double seconds, double syncSeconds) {}

    private final Path folder;
    private final String application;
    private final PublishedSettings.Timing timing;
    private final Map<Long, List<Point>> measured;
    private final Map<Long, Point> known = new HashMap<>();
    private Optional<StepGrid> grid = Optional.empty();

    private StepTable(
            Path folder, String application, PublishedSettings.Timing timing, Map<Long, List<Point>> measured) {
        this.folder = folder;
        this.application = application;
        this.timing = timing;
        this.measured = measured;
    }

    /** Reads the measurements of an application; those on more than four nodes when they are first needed. */
    static StepTable read(Path folder, String application, PublishedSettings.Timing timing) {
        Map<Long, List<Point>> measured = new LinkedHashMap<>();
        CsvTable rows =
                CsvTable.read(folder.resolve("placements.csv"), "placement", "local_bsz", "step_time", "sync_time");
        for (CsvRow row : rows.rows()) {
            measured.computeIfAbsent((long) row.whole("placement", 1), any -> new ArrayList<>())
                    .add(new Point(row.whole("local_bsz", 1), row.number("step_time", 0), row.number("sync_time", 0)));
        }
        measured.values().forEach(points -> points.sort(Comparator.comparingInt(Point::localBatch)));
        return new StepTable(folder, application, timing, measured);
    }

    /**
     * The step time on a placement.
     *
     * @param gpusByNode GPUs on each node, in the order of the job's ring
     */
    Point at(int[] gpusByNode, int localBatch) {
        return gpusByNode.length <= LARGEST_MEASURED
                ? between(placement(gpusByNode), localBatch)
                : beyond(Math.min(gpusByNode.length, MOST_NODES), replicas(gpusByNode), localBatch);
    }

    static int replicas(int[] gpusByNode) {
        int sum = 0;
        for (int gpus : gpusByNode) {
            sum += gpus;
        }
        return sum;
    }

    /** The digits of a placement, turned so that they read smallest. */
    private static long placement(int[] gpusByNode) {
        long smallest = Long.MAX_VALUE;
        for (int first = 0; first < gpusByNode.length; first++) {
            long digits = 0;
            for (int i = 0; i < gpusByNode.length; i++) {
                digits = digits * 10 + gpusByNode[(first + i) % gpusByNode.length];
            }
            smallest = Math.min(smallest, digits);
        }
        return smallest;
    }

    private Point between(long placement, int localBatch) {
        List<Point> points = measured.getOrDefault(placement, List.of());
        if (points.isEmpty()
                || localBatch < points.get(0).localBatch()
                || localBatch > points.get(points.size() - 1).localBatch()) {
            throw unknown("placement " + placement, localBatch);
        }
        int above = 1;
        while (points.get(above).localBatch() < localBatch) {
            above++;
        }
        Point low = points.get(above - 1);
        Point high = points.get(above);
        double width = high.localBatch() - low.localBatch();
        double from = localBatch - low.localBatch();
        return new Point(
                localBatch,
                (high.seconds() - low.seconds()) / width * from + low.seconds(),
                (high.syncSeconds() - low.syncSeconds()) / width * from + low.syncSeconds());
    }

    private Point beyond(int nodes, int replicas, int localBatch) {
        long key = ((long) nodes * 1_000 + replicas) * 1_000_000 + localBatch;
        Point point = known.get(key);
        if (point == null) {
            point = grid().at(nodes, replicas, localBatch)
                    .orElseThrow(() -> unknown("%d nodes with %d GPUs".formatted(nodes, replicas), localBatch));
            known.put(key, point);
        }
        return point;
    }

    private StepGrid grid() {
        if (grid.isEmpty()) {
            grid = Optional.of(StepGrid.read(folder, application, timing, measured));
        }
        return grid.get();
    }

    private IllegalStateException unknown(String where, int localBatch) {
        return new IllegalStateException("the published profiles have no step time of %s on %s with a local batch of %d"
                .formatted(application, where, localBatch));
    }
}
