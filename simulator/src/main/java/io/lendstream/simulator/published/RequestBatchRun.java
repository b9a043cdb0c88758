package io.lendstream.simulator.published;

import io.lendstream.simulator.workload.PolluxApplication;

/** A batch of requests: waits for a replica, warm or cold, and is computed. */
final class RequestBatchRun {
    private final PublishedWorkload.Row row;
    private final int index;
    private final int coldStart;
    private int started = -1;
    private int completed = -1;
    private boolean cold;

    RequestBatchRun(PublishedWorkload.Row row, int index, PolluxApplication application) {
        this.row = row;
        this.index = index;
        this.coldStart = (int) application.coldStart().toSeconds();
    }

    PublishedWorkload.Row row() {
        return row;
    }

    /** Its line in the workload, by which requests are dealt with in order. */
    int index() {
        return index;
    }

    int duration() {
        return (int) row.duration();
    }

    /** Seconds that a replica of its needs to come up. */
    int coldStart() {
        return coldStart;
    }

    /** When it got a GPU; -1 before. */
    int started() {
        return started;
    }

    /** When it is done, as far as that is known; -1 before. */
    int completed() {
        return completed;
    }

    boolean isCold() {
        return cold;
    }

    boolean isWaiting() {
        return started < 0;
    }

    /** Seconds of GPU time that its founding of a replica counts for, in the order of service. */
    int attainedGpuSeconds(int now) {
        return cold ? Math.min(coldStart, now - started) : 0;
    }

    void startWarm(int now) {
        started = now;
        completed = now + duration();
    }

    /** Founds a replica; tells when it will be done. */
    int startCold(int now) {
        started = now;
        cold = true;
        return now + coldStart + duration();
    }

    /** Whether its replica has come up by now; when that is noticed, its end is known. */
    boolean isUp(int now) {
        return now > started + coldStart;
    }

    void completes() {
        completed = started + coldStart + duration();
    }
}
