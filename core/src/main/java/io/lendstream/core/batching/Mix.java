package io.lendstream.core.batching;

import java.util.List;

/**
 * The load of an instance: requests in buckets by size, each batched within its bucket.
 *
 * @param parts a bucket each, by size
 */
public record Mix(List<Part> parts) {
    /**
     * A bucket.
     *
     * @param latency of batches of its inputs, each padded to its upper edge
     * @param share of the requests; above 0
     */
    public record Part(BatchLatency latency, double share) {
        public Part {
            if (!(share > 0)) {
                throw new IllegalArgumentException("the share of a bucket must be above 0, but is " + share);
            }
        }
    }

    public Mix {
        parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("a mix must have at least 1 bucket, but has none");
        }
        double sum = parts.stream().mapToDouble(Part::share).sum();
        parts = parts.stream()
                .map(part -> new Part(part.latency, part.share / sum))
                .toList();
    }

    /** Requests that are all alike. */
    public static Mix of(BatchLatency latency) {
        return new Mix(List.of(new Part(latency, 1)));
    }

    /** The same with every batch longer by a factor. */
    public Mix times(double factor) {
        return new Mix(parts.stream()
                .map(part -> new Part(part.latency.times(factor), part.share))
                .toList());
    }

    /** Requests per second with nothing but largest batches: what no instance exceeds. */
    double mostPerSecond() {
        double millis = 0;
        for (Part part : parts) {
            int most = part.latency.largestBatch();
            millis += part.share * part.latency.millis(most) / most;
        }
        return 1000 / millis;
    }
}
