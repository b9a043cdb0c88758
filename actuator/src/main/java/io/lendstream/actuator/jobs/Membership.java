package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.actuator.jobs.Member.Phase;
import io.lendstream.core.id.JobId;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The membership protocol of an elastic job, as a state machine. Inputs are messages and ends of workers, outputs are
 * {@link MembershipActions}. It reads no clock, and knows neither processes nor files. All times are of {@link
 * System#nanoTime}.
 */
final class Membership {
    private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
    /** How many groups in a row a worker may fail to build. */
    private static final int FAILED_BUILDS = 5;

    private final JobId job;
    private final JobTarget target;
    private final MembershipActions actions;
    private final Roster roster;
    private final GroupPlanner planner;
    private final MembershipEpochs epochs;
    private final GroupRecovery recovery;
    private final MembershipTakeover takeover;
    private boolean finished;

    Membership(JobId job, JobTarget target, MembershipActions actions) {
        this.job = job;
        this.target = target;
        this.actions = actions;
        this.roster = new Roster(job);
        this.planner = new GroupPlanner(roster, target);
        this.epochs = new MembershipEpochs(job, roster, target.batching(), actions);
        this.recovery = new GroupRecovery(job, roster, epochs, planner, actions);
        this.takeover = new MembershipTakeover(roster, epochs, recovery, target, actions);
    }

    /** Adds a worker that was started, or that an earlier node process had started. */
    void add(WorkerIdentity worker) {
        roster.add(new Member(worker));
    }

    /** Takes over workers, all of which have been added before. */
    void adopt(JobFile file, long nowNanos) {
        takeover.begin(file, nowNanos);
    }

    /** Handles a worker's message. */
    void heard(String name, String type, JsonNode message, long nowNanos) {
        Member worker = roster.get(name);
        long epoch = message.path("epoch").asLong();
        switch (type) {
            case "hello" -> takeover.reportedBack(worker, message, nowNanos);
            case "ready" -> worker.enter(Phase.READY);
            case "prepared" -> epochs.prepared(worker, epoch);
            case "unprepared" -> {
                if (epoch == epochs.epoch()) {
                    unprepared(worker, message.path("why").asText(), nowNanos);
                }
            }
            case "boundary" -> {
                worker.reached(message.path("step").asLong());
                epochs.passed(worker, epoch, nowNanos);
            }
            case "aborted" -> recovery.aborted(worker, message.path("phase").asText(), nowNanos);
            case "broken" -> broken(worker, message, nowNanos);
            case "resumed" -> epochs.costOf(epoch).ifPresent(cost -> cost.resumed(message));
            case "full" -> epochs.costOf(epoch).ifPresent(cost -> full(cost, worker, message));
            case "bye" -> finishes(worker, nowNanos);
            default -> LOG.debug("{}: ignoring message {} of worker {}", job, type, worker);
        }
    }

    /**
     * Handles a group that a worker cannot build, usually because another worker is dying. A worker that always fails
     * is replaced. If newcomers were to join, the others train on in their group, and only newcomers are replaced:
     * the cause may lie with any of them, but a worker that trains has a state to lose.
     */
    private void unprepared(Member worker, String why, long nowNanos) {
        LOG.warn("{}: {} cannot build the group of epoch {}: {}", job, worker, epochs.epoch(), why);
        if (epochs.canGiveUpTransition()) {
            List<Member> blamed = worker.isNew() ? List.of(worker) : roster.get(epochs.joining());
            blamed.forEach(this::countFailedBuild);
            epochs.giveUpTransition();
        } else if (recovery.isRecovering()) {
            countFailedBuild(worker);
        } else if (epochs.isChanging() || epochs.isBuilding()) { // otherwise it was given up by an earlier report
            countFailedBuild(worker);
            recovery.start(nowNanos);
        }
    }

    private void countFailedBuild(Member worker) {
        if (worker.countFailedBuild() >= FAILED_BUILDS) {
            actions.kill(worker.name());
        }
    }

    private void broken(Member worker, JsonNode message, long nowNanos) {
        worker.enter(Phase.BROKEN);
        worker.reached(message.path("step").asLong(-1));
        if (finished) {
            epochs.dismiss(worker.name(), nowNanos);
        } else {
            recovery.broken(message.path("epoch").asLong(), nowNanos);
        }
    }

    private void full(EpochCost cost, Member worker, JsonNode message) {
        cost.full(worker.name(), message);
        if (!cost.isReportedByAll(epochs.members())) {
            return;
        }
        epochs.endMeasuring();
        recovery.reportRecovered(cost);
        if (!target.isSettled() && planner.isAllThatIsWanted(epochs.members())) {
            actions.settle(ChangeTimings.between(target.askedNanos(), cost.fullNanos(), cost.pause()));
        }
    }

    /** Handles a worker's last step. The other workers of the group finish too; newcomers have nothing left to do. */
    private void finishes(Member worker, long nowNanos) {
        worker.finish();
        finished = true;
        for (Member other : roster.all()) {
            if (isDispensable(other.name())) {
                actions.kill(other.name());
            } else if (!epochs.members().contains(other.name())) {
                actions.setDeadline(other.name(), nowNanos + MembershipEpochs.LEAVE.toNanos());
            } else if (other.is(Phase.BROKEN)) {
                epochs.dismiss(other.name(), nowNanos);
            }
        }
        sayFarewell();
    }

    /** Lets the workers of the group end, once all that are left of it have finished. */
    private void sayFarewell() {
        List<String> members = epochs.members();
        if (roster.get(members).stream().allMatch(Member::hasFinished)) {
            members.forEach(name -> actions.send(name, MembershipMessages.farewell(epochs.epoch())));
        }
    }

    /** Whether the end of a worker counts as a failure; to be called before it is {@link #gone}. */
    boolean isFailure(String name) {
        Member worker = roster.get(name);
        boolean isExpected = finished
                || worker.hasFinished()
                || worker.is(Phase.LEAVING)
                || worker.slots().stream().allMatch(target::isReleased);
        return !isExpected;
    }

    /** Handles the end of a worker's last process. */
    void gone(String name, long nowNanos) {
        Member worker = roster.remove(name).orElseThrow();
        takeover.gone(name);
        boolean isAwaited = epochs.members().contains(name) && !worker.hasFinished();
        if (worker.is(Phase.LEAVING)) {
            epochs.left(name);
        } else if (worker.hasFinished() || finished) {
            epochs.remove(name);
        } else if (epochs.isSeated(name)) {
            recovery.lost(worker, nowNanos);
        } else if (epochs.concernsTransition(name)) {
            epochs.giveUpTransition();
        }
        if (finished && isAwaited) {
            sayFarewell();
        }
    }

    /** Whether a worker can be killed without harm, because it neither trains nor has been ordered to. */
    boolean isDispensable(String name) {
        return roster.get(name).isNew() && !epochs.isSeated(name) && !takeover.isAbsent(name);
    }

    /**
     * Continues work of an earlier node process, or a recovery, as far as possible now.
     *
     * @return whether the group can be changed, because nothing else is in progress
     */
    boolean advance(long nowNanos) {
        if (takeover.isWaiting()) {
            return false;
        }
        takeover.resolve(finished, nowNanos);
        if (recovery.isRecovering()) {
            recovery.advance(nowNanos);
            return false;
        }
        return finished || !epochs.isChanging(); // a change that was in progress at the end is never completed
    }

    /** Whether no worker trains and none can start to, or training is over. */
    boolean isIdle() {
        return finished || (epochs.members().isEmpty() && !planner.canStart());
    }

    /**
     * Begins the next group if it differs from the current one; otherwise the change is complete after its
     * measurement.
     */
    void change(long nowNanos) {
        GroupPlan plan = planner.next(epochs.members(), epochs.applied());
        if (plan.isLike(epochs.members(), epochs.applied())) {
            if (plan.isWhole() && !target.isSettled() && !epochs.isMeasuring()) {
                actions.settle(ChangeTimings.between(target.askedNanos(), nowNanos));
            }
        } else if (!epochs.isBuilding()) {
            epochs.begin(plan);
        }
    }

    boolean isFinished() {
        return finished;
    }

    /** When a worker with a seat in the group was last lost; 0 if none was. */
    long lostNanos() {
        return recovery.lostNanos();
    }

    /** The state with which the workers can be taken over. */
    MembershipState state() {
        Optional<JobFile.Pending> pending = epochs.pending().or(takeover::inherited);
        return new MembershipState(epochs.applied(), epochs.epoch(), epochs.members(), pending);
    }
}
