package io.lendstream.simulator.published;

/** An inference replica, which stands for itself in allocations under the name of the request that it came up for. */
final class Pod {
    static final int NOWHERE = -1;

    /** What a replica does. */
    enum Phase {
        RUNNING,
        PROTECTED,
        SLEEPING,
        GONE
    }

    private final RequestBatchRun founder;
    private Phase phase = Phase.RUNNING;
    private int node;
    private int hits;
    private int busyUntil = Integer.MAX_VALUE;
    private int sleepsAt = Integer.MAX_VALUE;

    Pod(RequestBatchRun founder, int node) {
        this.founder = founder;
        this.node = node;
    }

    RequestBatchRun founder() {
        return founder;
    }

    Phase phase() {
        return phase;
    }

    boolean isSleeping() {
        return phase == Phase.SLEEPING;
    }

    boolean isGone() {
        return phase == Phase.GONE;
    }

    int hits() {
        return hits;
    }

    /** The node of its GPU; {@link #NOWHERE} for a ghost, whose GPU training has taken while its record lives on. */
    int node() {
        return node;
    }

    void moveTo(int next) {
        node = next;
    }

    int busyUntil() {
        return busyUntil;
    }

    /** When it falls asleep, as far as that is known. */
    int sleepsAt() {
        return sleepsAt;
    }

    void busyUntil(int second) {
        busyUntil = second;
    }

    /** Takes a request while it is warm. */
    void serve(int until) {
        hits = phase == Phase.SLEEPING ? 0 : hits + 1;
        phase = Phase.RUNNING;
        busyUntil = until;
        sleepsAt = Integer.MAX_VALUE;
    }

    /** Protects the pod from reclaims for some seconds. */
    void protect(int now, int seconds) {
        phase = Phase.PROTECTED;
        busyUntil = Integer.MAX_VALUE;
        sleepsAt = now + seconds;
    }

    void stop() {
        phase = Phase.GONE;
    }

    void sleep() {
        phase = Phase.SLEEPING;
        hits = 0;
        sleepsAt = Integer.MAX_VALUE;
    }
}
