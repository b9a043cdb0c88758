package io.lendstream.simulator.batching;

import io.lendstream.core.latency.LatencySample;
import io.lendstream.core.latency.MemoryLearner;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The measured latencies of a model on a kind of GPU.
 *
 * @param rows by profile from small to large, batch and input size
 * @param outOfMemory batches that did not run; of no milliseconds
 */
public record LatencyTable(String model, MigGpu gpu, List<Row> rows, List<Row> outOfMemory) {
    /**
     * One measurement.
     *
     * @param inputSize of each input, in tokens or whatever the table counts; 1 where inputs are all alike
     * @param millis a batch takes
     */
    public record Row(MigProfile profile, int batch, int inputSize, double millis) {}

    public LatencyTable {
        outOfMemory = List.copyOf(outOfMemory);
        rows = rows.stream()
                .sorted(Comparator.<Row>comparingInt(row -> row.profile().computeSlices())
                        .thenComparingInt(row -> row.profile().memorySlices())
                        .thenComparingInt(Row::batch)
                        .thenComparingInt(Row::inputSize))
                .toList();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException(
                    "a latency table must have at least 1 row, but that of %s has none".formatted(model));
        }
    }

    /** All of whose batches ran. */
    public LatencyTable(String model, MigGpu gpu, List<Row> rows) {
        this(model, gpu, rows, List.of());
    }

    /** What fits the memory of instances, in memory slices: what ran, and less than what did not. */
    MemoryLearner memory() {
        MemoryLearner memory = MemoryLearner.EMPTY;
        for (Row row : rows) {
            memory = memory.ran(row.profile().memorySlices(), row.batch(), share(row), Optional.empty());
        }
        for (Row row : outOfMemory) {
            memory = memory.ranOut(row.profile().memorySlices(), row.batch(), share(row));
        }
        return memory;
    }

    private double share(Row row) {
        return Math.min(1, (double) row.inputSize() / largestInput());
    }

    /** The largest input that was measured. */
    public int largestInput() {
        return rows.stream().mapToInt(Row::inputSize).max().orElseThrow();
    }

    /** A row as the latency model takes it. */
    public LatencySample sample(Row row) {
        return new LatencySample(Slice.of(gpu, row.profile()), row.batch(), share(row), row.millis());
    }

    public List<LatencySample> samples() {
        return rows.stream().map(this::sample).toList();
    }

    /** The largest batch that was measured on a profile; 0 where none ran. Larger ones did not fit its memory. */
    public int largestBatch(MigProfile profile) {
        return rows.stream()
                .filter(row -> row.profile().equals(profile))
                .mapToInt(Row::batch)
                .max()
                .orElse(0);
    }
}
