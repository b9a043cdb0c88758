package io.lendstream.simulator;

/**
 * The requests of a workload up to its own end, as they stood then. A run goes on until its last job ends, and series
 * of rates go on with it; these figures are of the same requests in each run, however long it takes.
 *
 * @param requests requests offered, the unanswered included
 * @param withinSlo requests answered within the SLO
 */
public record OwnRequests(double requests, double withinSlo) {
    public static final OwnRequests NONE = new OwnRequests(0, 0);

    /** Requests that were answered too late, or not at all. */
    public double misses() {
        return Math.max(0, requests - withinSlo);
    }

    /** Misses over requests; 0 without requests. */
    public double missShare() {
        return requests > 0 ? misses() / requests : 0;
    }

    public OwnRequests plus(OwnRequests other) {
        return new OwnRequests(requests + other.requests, withinSlo + other.withinSlo);
    }
}
