package io.lendstream.core.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A server's count of batches of one size since its start: an entry of {@code batch_stats} of Triton's statistics.
 *
 * @param input copying inputs to the GPU
 * @param infer the computation itself
 * @param output copying outputs back
 * @see <a
 *     href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_statistics.md">Triton's
 *     statistics extension</a>
 */
public record BatchCounter(Phase input, Phase infer, Phase output) {
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * One part of serving a batch.
     *
     * @param count batches that passed it
     * @param nanos that they took together
     */
    public record Phase(long count, long nanos) {
        private static final Phase NONE = new Phase(0, 0);

        public Phase {
            if (count < 0 || nanos < 0) {
                throw new IllegalArgumentException(
                        "counters must be at least 0, but a server counted %d batches in %d ns"
                                .formatted(count, nanos));
            }
        }

        private boolean isBefore(Phase later) {
            return count <= later.count && nanos <= later.nanos;
        }

        private Phase since(Phase before) {
            return new Phase(count - before.count, nanos - before.nanos);
        }

        private double meanNanos() {
            return count == 0 ? 0 : (double) nanos / count;
        }
    }

    private static final BatchCounter NONE = new BatchCounter(Phase.NONE, Phase.NONE, Phase.NONE);

    private boolean isBefore(BatchCounter later) {
        return input.isBefore(later.input) && infer.isBefore(later.infer) && output.isBefore(later.output);
    }

    /**
     * The batches that an instance served between two readings; none if the readings are equal.
     *
     * <p>A counter that is lower than before, or gone, means that the server restarted: then all that it counts now
     * came since. A restart after which every counter has already passed its old value is not detected; read more often
     * than that.
     *
     * @param before by batch size; empty for a server that has just started
     * @param now by batch size
     * @param size of the inputs, as {@link ServedBatches#size}
     * @return by batch size, ascending
     */
    public static List<ServedBatches> served(
            Slice slice, double size, Map<Integer, BatchCounter> before, Map<Integer, BatchCounter> now) {
        boolean restarted = before.entrySet().stream()
                .anyMatch(old -> !old.getValue().isBefore(now.getOrDefault(old.getKey(), NONE)));
        List<ServedBatches> served = new ArrayList<>();
        new TreeMap<>(now).forEach((batch, counter) -> {
            BatchCounter old = restarted ? NONE : before.getOrDefault(batch, NONE);
            long count = counter.infer.since(old.infer).count;
            double nanos = counter.input.since(old.input).meanNanos()
                    + counter.infer.since(old.infer).meanNanos()
                    + counter.output.since(old.output).meanNanos();
            if (count > 0 && nanos > 0) {
                served.add(ServedBatches.of(slice, batch, size, count, nanos / NANOS_PER_MILLI));
            }
        });
        return served;
    }
}
