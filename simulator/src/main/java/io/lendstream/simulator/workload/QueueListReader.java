package io.lendstream.simulator.workload;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads queues: a line for each quota, {@code queue,nominalQuota}, and where they are wanted {@code kind}, {@code
 * borrowingLimit}, {@code lendingLimit}, {@code cohort}, {@code weight}, {@code withinClusterQueue}, {@code
 * reclaimWithinCohort} and {@code priorityClasses}. The last five are those of the queue's first line.
 */
final class QueueListReader {
    static final ListColumns COLUMNS = new ListColumns(
            List.of("queue", "nominalQuota"),
            List.of(
                    "kind",
                    "borrowingLimit",
                    "lendingLimit",
                    "cohort",
                    "weight",
                    "withinClusterQueue",
                    "reclaimWithinCohort",
                    "priorityClasses"));

    private QueueListReader() {}

    static boolean knows(List<String> header) {
        return COLUMNS.areIn(header);
    }

    static Workload read(Path file, Scene scene) {
        return new Workload(
                DeepBootReader.nameOf(file), scene.start(), List.of(), List.of(), queues(COLUMNS.read(file), scene));
    }

    /** The queues of some rows, in the order of their first quotas. */
    static List<ClusterQueue> queues(List<CsvRow> all, Scene scene) {
        Map<QueueId, List<CsvRow>> byQueue = new LinkedHashMap<>();
        Map<List<Object>, Integer> lines = new HashMap<>();
        for (CsvRow row : all) {
            QueueId queue = row.queue().orElseThrow(() -> row.bad("queue", "a name"));
            Optional<KindId> kind = kind(row, scene);
            Integer before = lines.putIfAbsent(List.of(queue, kind), row.line());
            if (before != null) {
                throw row.bad(
                        "queue",
                        "one quota of each queue for %s, but line %d has one too"
                                .formatted(
                                        kind.isEmpty() ? "the kinds that it does not name" : row.text("kind"), before));
            }
            byQueue.computeIfAbsent(queue, any -> new ArrayList<>()).add(row);
        }
        List<ClusterQueue> queues = new ArrayList<>();
        byQueue.forEach((queue, rows) -> queues.add(queue(queue, rows, scene)));
        return queues;
    }

    private static ClusterQueue queue(QueueId queue, List<CsvRow> rows, Scene scene) {
        CsvRow first = rows.get(0);
        Optional<String> cohort = Optional.of(first.text("cohort")).filter(name -> !name.isEmpty());
        double weight = first.text("weight").isEmpty() ? 1 : first.above("weight", 0);
        return new ClusterQueue(
                queue,
                scene.domain(),
                scene.start(),
                cohort,
                weight,
                rows.stream().map(row -> quota(row, scene)).toList(),
                preemption(first, "withinClusterQueue", false),
                preemption(first, "reclaimWithinCohort", true),
                priorityClasses(first));
    }

    private static Map<String, Integer> priorityClasses(CsvRow row) {
        Map<String, Integer> classes = new LinkedHashMap<>();
        row.pairs("priorityClasses").forEach((name, priority) -> classes.put(name, priority(row, priority)));
        return classes;
    }

    private static int priority(CsvRow row, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw row.bad(
                    "priorityClasses", "CLASS:PRIORITY between semicolons, with whole numbers, such as high:10;low:-5");
        }
    }

    private static KindQuota quota(CsvRow row, Scene scene) {
        return new KindQuota(
                kind(row, scene),
                row.number("nominalQuota", 0),
                limit(row, "borrowingLimit"),
                limit(row, "lendingLimit"));
    }

    /** A rule in Kueue's spelling, if the line has one. */
    private static Optional<Preemption> preemption(CsvRow row, String column, boolean mayBeAny) {
        return switch (row.text(column)) {
            case "" -> Optional.empty();
            case "Never" -> Optional.of(Preemption.NEVER);
            case "LowerPriority" -> Optional.of(Preemption.LOWER_PRIORITY);
            default -> {
                if (mayBeAny && row.text(column).equals("Any")) {
                    yield Optional.of(Preemption.ANY);
                }
                throw row.bad(column, mayBeAny ? "Never, LowerPriority or Any" : "Never or LowerPriority");
            }
        };
    }

    private static Optional<KindId> kind(CsvRow row, Scene scene) {
        String name = row.text("kind");
        return name.isEmpty() ? Optional.empty() : Optional.of(ListedKinds.kind(row, "kind", name, scene));
    }

    private static Optional<Double> limit(CsvRow row, String column) {
        return row.text(column).isEmpty() ? Optional.empty() : Optional.of(row.number(column, 0));
    }
}
