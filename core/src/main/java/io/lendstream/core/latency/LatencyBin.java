package io.lendstream.core.latency;

/**
 * A bin of batches that are counted together. They run on slices of one size, are at most an eighth of an octave apart
 * (up to 16, each batch for itself), and have input sizes within two per cent of the middle.
 *
 * @param batch the smallest that belongs to it
 * @param size sixteenths of an octave below the largest input; 0 for the largest
 */
public record LatencyBin(Slice slice, int batch, int size) implements Comparable<LatencyBin> {
    private static final int SIZES_PER_OCTAVE = 16;
    private static final int BATCH_BITS = 4;

    static LatencyBin of(Slice slice, int batch, double size) {
        int shift = Math.max(0, Integer.SIZE - Integer.numberOfLeadingZeros(batch) - BATCH_BITS);
        return new LatencyBin(
                slice, batch >> shift << shift, (int) Math.rint(-SIZES_PER_OCTAVE * Math.log(size) / Math.log(2)));
    }

    /** The bins that are alike but for the batch, named by the one of batch 1. */
    LatencyBin line() {
        return new LatencyBin(slice, 1, size);
    }

    @Override
    public int compareTo(LatencyBin other) {
        int order = slice.compareTo(other.slice);
        order = order != 0 ? order : Integer.compare(size, other.size);
        return order != 0 ? order : Integer.compare(batch, other.batch);
    }
}
