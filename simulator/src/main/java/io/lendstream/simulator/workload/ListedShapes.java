package io.lendstream.simulator.workload;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TopologyWish;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The columns of a job list about the shape of a job: {@code sizes}, the numbers of GPUs that it may have, between
 * semicolons, {@code multipleOf}, {@code wholeNodes} and {@code gang} ({@code true} or {@code false}), and {@code
 * topology}, such as {@code rack:required}.
 */
final class ListedShapes {
    static final List<String> COLUMNS = List.of("sizes", "multipleOf", "wholeNodes", "topology", "gang");

    private static final int MOST_GPUS = 1_000_000;

    private ListedShapes() {}

    /** The same job in the shape of its line. */
    static TrainingTask task(TrainingTask task, CsvRow row) {
        int multipleOf = row.text("multipleOf").isEmpty() ? 1 : row.whole("multipleOf", 1);
        if (multipleOf > MOST_GPUS) {
            throw row.bad("multipleOf", "at most %d".formatted(MOST_GPUS));
        }
        JobShape shape =
                new JobShape(sizes(row), multipleOf, flag(row, "wholeNodes"), topology(row), flag(row, "gang"));
        if (shape.equals(JobShape.ANY)) {
            return task;
        }
        TrainingTask shaped = task.shaped(shape);
        if (!shaped.job().hasSize()) {
            throw row.bad(
                    shape.sizes().isEmpty() ? "multipleOf" : "sizes",
                    "a shape with a size from %d to %d GPUs"
                            .formatted(
                                    task.job().scaling().least(),
                                    task.job().scaling().maxGpus()));
        }
        return shaped;
    }

    private static List<Integer> sizes(CsvRow row) {
        List<Integer> sizes = new ArrayList<>();
        if (row.text("sizes").isEmpty()) {
            return sizes;
        }
        for (String part : row.text("sizes").split(";", -1)) {
            int size = number(part);
            if (size < 1 || size > MOST_GPUS) {
                throw row.bad("sizes", "whole numbers of at least 1 between semicolons, such as 1;2;4");
            }
            sizes.add(size);
        }
        return sizes;
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static boolean flag(CsvRow row, String column) {
        return switch (row.text(column)) {
            case "", "false" -> false;
            case "true" -> true;
            default -> throw row.bad(column, "true or false");
        };
    }

    private static Optional<TopologyWish> topology(CsvRow row) {
        String text = row.text("topology");
        if (text.isEmpty()) {
            return Optional.empty();
        }
        int colon = text.indexOf(':');
        String strength = text.substring(colon + 1);
        Optional<TopologyLevel> level = switch (text.substring(0, Math.max(0, colon))) {
            case "node" -> Optional.of(TopologyLevel.NODE);
            case "nvlink-domain" -> Optional.of(TopologyLevel.NVLINK_DOMAIN);
            case "rack" -> Optional.of(TopologyLevel.RACK);
            default -> Optional.empty();
        };
        if (level.isEmpty() || !List.of("required", "preferred").contains(strength)) {
            throw row.bad(
                    "topology", "node, nvlink-domain or rack with :required or :preferred, such as rack:required");
        }
        return Optional.of(new TopologyWish(level.get(), strength.equals("required")));
    }
}
