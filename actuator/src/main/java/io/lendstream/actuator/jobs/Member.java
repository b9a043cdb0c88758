package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A worker of an elastic job as the membership protocol sees it: its phase, and what it reported last. */
final class Member {
    /** The phase of a worker, as far as the node process knows. */
    enum Phase {
        /** It was started, or was taken over from an earlier node process, and has sent no message yet. */
        STARTING,
        /** It could join. */
        READY,
        /** It has a seat in the group. */
        TRAINING,
        /** It has lost its group. */
        BROKEN,
        /** It has finished its last step, and waits to be let go. */
        LEAVING
    }

    private final String name;
    private final List<Slot> slots;
    private final DecisionId cause;
    private Phase phase = Phase.STARTING;
    private long step = -1;
    private long passedEpoch;
    private long seatEpoch;
    private final Set<Long> builtEpochs = new HashSet<>();
    private int failedBuilds;
    private boolean hasFinished;

    Member(WorkerIdentity identity) {
        this.name = identity.name();
        this.slots = identity.slots();
        this.cause = identity.cause();
    }

    String name() {
        return name;
    }

    List<Slot> slots() {
        return slots;
    }

    /** The change that gave the job this worker's slots. */
    DecisionId cause() {
        return cause;
    }

    Phase phase() {
        return phase;
    }

    boolean is(Phase asked) {
        return phase == asked;
    }

    /** Whether it is about to join, and neither trains nor has trained. */
    boolean isNew() {
        return phase == Phase.STARTING || phase == Phase.READY;
    }

    void enter(Phase next) {
        phase = next;
    }

    /** The last step that it has completed; -1 if it has no whole state. */
    long step() {
        return step;
    }

    void reached(long completedStep) {
        step = completedStep;
    }

    /** Takes over what a worker reports in the first message on a connection. */
    void reportBack(JsonNode hello) {
        seatEpoch = hello.path("epoch").asLong();
        passedEpoch = hello.path("passed").asLong();
        step = hello.path("step").asLong(-1);
        builtEpochs.clear();
        hello.path("prepared").forEach(each -> builtEpochs.add(each.asLong()));
        phase = Phase.valueOf(hello.path("phase").asText().toUpperCase(Locale.ROOT));
    }

    /** Whether it had passed into an epoch when it reported back. */
    boolean hadPassed(long epoch) {
        return passedEpoch >= epoch;
    }

    /** Whether it had built the group of an epoch, and not taken it yet, when it reported back. */
    boolean hadBuilt(long epoch) {
        return builtEpochs.contains(epoch);
    }

    /** Whether it had the group of an epoch, taken or not, when it reported back. */
    boolean hadGroupOf(long epoch) {
        return seatEpoch == epoch || hadBuilt(epoch);
    }

    /** Whether it was to train when it reported back, but had no group and was not going to have one. */
    boolean hadLostItsGroup() {
        return phase == Phase.TRAINING && seatEpoch == 0 && builtEpochs.isEmpty();
    }

    /** Counts a group that it could not build; returns how many in a row it could not. */
    int countFailedBuild() {
        return ++failedBuilds;
    }

    void hasBuilt() {
        failedBuilds = 0;
    }

    /** It has taken the last step of the training. */
    void finish() {
        hasFinished = true;
    }

    boolean hasFinished() {
        return hasFinished;
    }

    @Override
    public String toString() {
        return name;
    }
}
