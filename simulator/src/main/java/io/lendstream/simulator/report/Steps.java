package io.lendstream.simulator.report;

import java.time.Instant;

/** A number that stays as it is until it is changed, over time. */
final class Steps {
    private final Bins bins = new Bins();
    private double value;
    private Instant since;

    Steps(Instant start) {
        since = start;
    }

    /** Changes the number from a time on; a time that is past already counts as the latest one. */
    void add(Instant at, double change) {
        upTo(at);
        value += change;
    }

    /** Notes that the number has not changed until then. */
    void upTo(Instant at) {
        bins.hold(since, at, value);
        since = at.isAfter(since) ? at : since;
    }

    double value() {
        return value;
    }

    Bins bins() {
        return bins;
    }
}
