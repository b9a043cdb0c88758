package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A worker of an elastic job in the membership protocol: its phase and its last report. */
final class Member {
    /** The phase of a worker, as far as the node process knows. */
    enum Phase {
        /** Started, or taken over from an earlier node process, without a message so far. */
        STARTING,
        /** It could join. */
        READY,
        /** Has a seat in the group. */
        TRAINING,
        /** Has lost its group. */
        BROKEN,
        /** Has finished its last step, and waits for permission to end. */
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

    /** Whether it is joining: it does not train and has not trained. */
    boolean isNew() {
        return phase == Phase.STARTING || phase == Phase.READY;
    }

    void enter(Phase next) {
        phase = next;
    }

    /** The last step that it has completed; -1 without a complete state. */
    long step() {
        return step;
    }

    void reached(long completedStep) {
        step = completedStep;
    }

    /** Applies the report in a connection's first message. */
    void reportBack(JsonNode hello) {
        seatEpoch = hello.path("epoch").asLong();
        passedEpoch = hello.path("passed").asLong();
        step = hello.path("step").asLong(-1);
        builtEpochs.clear();
        hello.path("prepared").forEach(each -> builtEpochs.add(each.asLong()));
        phase = Phase.valueOf(hello.path("phase").asText().toUpperCase(Locale.ROOT));
    }

    /** Whether it had entered an epoch when it reconnected. */
    boolean hadPassed(long epoch) {
        return passedEpoch >= epoch;
    }

    /** Whether it had built, and not yet entered, the group of an epoch when it reconnected. */
    boolean hadBuilt(long epoch) {
        return builtEpochs.contains(epoch);
    }

    /** Whether it had the group of an epoch, entered or not, when it reconnected. */
    boolean hadGroupOf(long epoch) {
        return seatEpoch == epoch || hadBuilt(epoch);
    }

    /** Whether it should have trained when it reconnected, but had no group and was not going to have one. */
    boolean hadLostItsGroup() {
        return phase == Phase.TRAINING && seatEpoch == 0 && builtEpochs.isEmpty();
    }

    /** Counts a group that it could not build; returns how many in a row. */
    int countFailedBuild() {
        return ++failedBuilds;
    }

    void hasBuilt() {
        failedBuilds = 0;
    }

    /** Records that it has completed the last step of the training. */
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
