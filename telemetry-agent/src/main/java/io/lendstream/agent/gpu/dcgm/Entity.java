package io.lendstream.agent.gpu.dcgm;

import io.lendstream.agent.exposition.MetricSample;
import io.lendstream.core.event.GpuSample;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;

/** The rows of one GPU or MIG instance: one value for each field. */
final class Entity {
    /** DCGM's values for "blank" and similar, as integers and as floating-point numbers. */
    private static final double BLANK_64 = 0x1p63;

    private static final double BLANK_32 = 0x7ffffff0L;
    private static final double BLANK_DOUBLE = 140_737_488_355_328.0;
    private static final int KINDS_OF_BLANK = 8;

    private static final String FIVE_MINUTES_IN_MS = "300000";

    private final Map<String, Double> values = new HashMap<>();
    private final Map<String, Integer> ranks = new HashMap<>();
    private final Set<String> users = new TreeSet<>();

    /** Applies a row, unless its value is blank or a preferred metric has already set the field. */
    void take(DcgmMapping.Row row, int rank, MetricSample sample) {
        if (isBlank(sample.value())) {
            return;
        }
        double value = sample.value() * row.factor();
        if (row.field().equals("xidsInFiveMinutes")) {
            if (sample.label("window_size_in_ms").equals(FIVE_MINUTES_IN_MS)) {
                values.merge(row.field(), value, Double::sum);
            }
        } else if (rank <= ranks.getOrDefault(row.field(), Integer.MAX_VALUE)) {
            values.put(row.field(), value);
            ranks.put(row.field(), rank);
        }
    }

    /** The user of the device, if the exporter asks the kubelet or a directory of jobs; otherwise unknown. */
    void takeUser(MetricSample sample) {
        String pod = sample.label("pod").strip();
        String job = sample.label("hpc_job").strip();
        if (!pod.isEmpty()) {
            users.add("kubernetes/%s/%s/%s"
                    .formatted(
                            sample.label("namespace").strip(),
                            pod,
                            sample.label("container").strip()));
        }
        if (!job.isEmpty()) {
            users.add("slurm/" + job);
        }
    }

    /** The known users of the device, in order; empty if unknown. */
    Set<String> users() {
        return users;
    }

    /** A sample with its users; the exporter never reports that a device is unused. */
    static GpuSample usedIn(GpuSample sample, Set<String> users) {
        return users.isEmpty() ? sample : sample.withUsers(List.copyOf(users));
    }

    static boolean isBlank(double value) {
        return !Double.isFinite(value)
                || value < 0
                || value >= BLANK_64
                || isWithin(value, BLANK_32)
                || isWithin(value, BLANK_DOUBLE);
    }

    private static boolean isWithin(double value, double blank) {
        return value >= blank && value < blank + KINDS_OF_BLANK;
    }

    Optional<Double> value(String field) {
        return Optional.ofNullable(values.get(field));
    }

    /** A fraction; rounding may have made it slightly larger than 1. */
    Optional<Double> share(String field) {
        return value(field).map(value -> Math.min(1, value));
    }

    Optional<Long> whole(String field) {
        return value(field).map(Math::round);
    }

    /** Total memory: as reported, or the sum of its parts. */
    Optional<Long> memoryTotalBytes() {
        if (value("memoryTotalBytes").isPresent()) {
            return whole("memoryTotalBytes");
        }
        OptionalDouble used = sum("memoryUsedBytes", "memoryFree");
        return used.isPresent()
                ? Optional.of(
                        Math.round(used.getAsDouble() + value("memoryReserved").orElse(0.0)))
                : Optional.empty();
    }

    private OptionalDouble sum(String one, String other) {
        return value(one).isPresent() && value(other).isPresent()
                ? OptionalDouble.of(value(one).get() + value(other).get())
                : OptionalDouble.empty();
    }
}
