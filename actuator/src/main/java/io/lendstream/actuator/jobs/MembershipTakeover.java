package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.actuator.jobs.EpochTransition.Kind;
import io.lendstream.actuator.jobs.Member.Phase;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Takes over workers of an earlier node process. It waits until all have reconnected or ended. A transition that all
 * had agreed on continues; any other is begun again.
 */
final class MembershipTakeover {
    private static final Duration REPORT_BACK = Duration.ofSeconds(10);

    private final Roster roster;
    private final MembershipEpochs epochs;
    private final GroupRecovery recovery;
    private final JobTarget target;
    private final MembershipActions actions;

    /** Workers that the earlier node process knew, and that have not reconnected. */
    private final Set<String> absent = new HashSet<>();

    private Optional<JobFile.Pending> inherited = Optional.empty();
    private boolean isUnresolved;

    MembershipTakeover(
            Roster roster,
            MembershipEpochs epochs,
            GroupRecovery recovery,
            JobTarget target,
            MembershipActions actions) {
        this.roster = roster;
        this.epochs = epochs;
        this.recovery = recovery;
        this.target = target;
        this.actions = actions;
    }

    /** Begins to wait for the workers with a seat. */
    void begin(JobFile file, long nowNanos) {
        isUnresolved = true;
        inherited = Optional.ofNullable(file.membership().pending());
        long epoch = inherited
                .map(left -> Math.max(file.membership().epoch(), left.epoch()))
                .orElse(file.membership().epoch());
        epochs.restore(epoch, file.membership().members(), file.applied());
        absent.addAll(file.membership().members());
        inherited.ifPresent(left -> absent.addAll(left.members()));
        absent.removeIf(name -> !roster.has(name));
        absent.forEach(name -> actions.setDeadline(name, nowNanos + REPORT_BACK.toNanos()));
    }

    /** Handles a worker that has connected and reports its phase. */
    void reportedBack(Member worker, JsonNode hello, long nowNanos) {
        worker.reportBack(hello);
        actions.clearDeadline(worker.name());
        absent.remove(worker.name());
        if (worker.is(Phase.LEAVING) && !epochs.isChanging() && inherited.isEmpty()) {
            epochs.dismiss(worker.name(), nowNanos);
        }
    }

    void gone(String name) {
        absent.remove(name);
    }

    boolean isAbsent(String name) {
        return absent.contains(name);
    }

    boolean isWaiting() {
        return !absent.isEmpty();
    }

    /** The transition that continues when all have reconnected. */
    Optional<JobFile.Pending> inherited() {
        return inherited;
    }

    /**
     * Resolves, once, the unfinished work of the earlier node process.
     *
     * @param isFinished whether the job has finished, so that a broken group is not recovered
     */
    void resolve(boolean isFinished, long nowNanos) {
        if (!isUnresolved) {
            return;
        }
        isUnresolved = false;
        Optional<JobFile.Pending> left = inherited;
        inherited = Optional.empty();
        left.ifPresent(pending -> goOnWith(pending, nowNanos));
        boolean isIncomplete = !roster.hasAll(epochs.members());
        epochs.removeMissing();
        boolean isBroken = roster.get(epochs.members()).stream()
                .anyMatch(worker -> worker.is(Phase.BROKEN) || worker.hadLostItsGroup());
        if (!recovery.isRecovering() && (isIncomplete || isBroken) && !isFinished && !epochs.isChanging()) {
            recovery.start(nowNanos);
        }
    }

    private void goOnWith(JobFile.Pending left, long nowNanos) {
        EpochTransition resumed = epochs.resume(left, target.batching());
        Set<String> all = resumed.all();
        if (!roster.hasAll(all) || roster.get(all).stream().anyMatch(worker -> worker.is(Phase.BROKEN))) {
            recovery.start(nowNanos);
            return;
        }
        for (Member worker : roster.get(all)) {
            if (worker.hadGroupOf(resumed.epoch())) {
                resumed.addPrepared(worker.name()); // it does not report that again
            }
            boolean stays = resumed.after().contains(worker.name());
            if (worker.hadPassed(resumed.epoch()) || worker.is(Phase.LEAVING)) {
                resumed.addPassed(worker.name());
            } else if (resumed.kind() == Kind.CHANGE && (worker.hadBuilt(resumed.epoch()) || !stays)) {
                epochs.sendCommit(resumed, worker.name());
            } else {
                recovery.start(nowNanos); // its group was being built with a store that is gone
                return;
            }
        }
        epochs.completeIfPassed(resumed, nowNanos);
    }
}
