package io.lendstream.core.policy;

/**
 * The gain and the loss of taking lent MIG instances back: requests answered in time, against lost training.
 *
 * @param servedPerSecond requests within the objectives of the services that are to have them
 * @param lostGpuSeconds training that jobs would still have had there: until their leases end, and what stopping and
 *     starting costs them; in time of a whole GPU
 */
public record SlicePrice(double servedPerSecond, double lostGpuSeconds) implements Comparable<SlicePrice> {
    /** Requests per second that come back for a GPU-second of training; infinite where none is lost. */
    public double worth() {
        return lostGpuSeconds > 0 ? servedPerSecond / lostGpuSeconds : Double.POSITIVE_INFINITY;
    }

    /** The best bargain first. */
    @Override
    public int compareTo(SlicePrice other) {
        return Double.compare(other.worth(), worth());
    }

    @Override
    public String toString() {
        return "%.1f more requests/s are answered within the SLO and training loses %.0f GPU-seconds (%.2f requests/s for each)"
                .formatted(servedPerSecond, lostGpuSeconds, worth());
    }
}
