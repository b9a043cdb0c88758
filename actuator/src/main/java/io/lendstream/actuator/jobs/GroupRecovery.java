package io.lendstream.actuator.jobs;

import io.lendstream.actuator.jobs.Member.Phase;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recovers a job from the loss of a worker. The group is broken at once, so that no worker waits for the lost one.
 * When all remaining workers have reported their last step, they build another group around the most advanced worker.
 */
final class GroupRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(GroupRecovery.class);

    private final JobId job;
    private final Roster roster;
    private final MembershipEpochs epochs;
    private final GroupPlanner planner;
    private final MembershipActions actions;

    /** Workers whose group was broken, until the next group begins. */
    private final Set<String> recovering = new LinkedHashSet<>();
    /** Groups up to this epoch were broken by this node process. */
    private long abortedEpoch;
    /** Slots whose workers were lost, until training continues. */
    private final List<Slot> lost = new ArrayList<>();

    private long lostNanos;

    GroupRecovery(JobId job, Roster roster, MembershipEpochs epochs, GroupPlanner planner, MembershipActions actions) {
        this.job = job;
        this.roster = roster;
        this.epochs = epochs;
        this.planner = planner;
        this.actions = actions;
    }

    /** Records that a worker with a seat in the group has ended. */
    void lost(Member worker, long nowNanos) {
        lostNanos = nowNanos;
        lost.addAll(worker.slots());
        epochs.remove(worker.name());
        start(nowNanos);
    }

    /** Breaks the group; its remaining workers report their last step. */
    void start(long nowNanos) {
        Set<String> involved = epochs.involved();
        recovering.stream().filter(this::mayRecover).forEach(involved::add);
        epochs.passedToLeave().forEach(name -> epochs.dismiss(name, nowNanos));
        epochs.giveUpAll();
        recovering.clear();
        recovering.addAll(involved);
        abortedEpoch = epochs.epoch();
        actions.save();
        LOG.info("{}: the group of epoch {} is broken; remaining workers: {}", job, abortedEpoch, involved);
        recovering.forEach(name -> actions.send(name, MembershipMessages.abort(abortedEpoch)));
        if (recovering.isEmpty()) {
            epochs.removeAll();
        }
    }

    /** Adds a newcomer whose first group was broken: it is not a member, but waits for the next group as members do. */
    private boolean mayRecover(String name) {
        return roster.has(name) && !roster.get(name).is(Phase.LEAVING);
    }

    /** Records that a worker has lost its group by itself, because a connection to another worker ended. */
    void broken(long epoch, long nowNanos) {
        if (recovering.isEmpty() && epoch > abortedEpoch) {
            start(nowNanos);
        }
    }

    /** Records that a worker has broken its groups as ordered; its phase shows whether it had a seat in one. */
    void aborted(Member worker, String phase, long nowNanos) {
        if (phase.equals("ready")) {
            worker.enter(Phase.READY);
            recovering.remove(worker.name());
            epochs.remove(worker.name());
        } else if (phase.equals("leaving")) {
            recovering.remove(worker.name());
            epochs.remove(worker.name());
            epochs.dismiss(worker.name(), nowNanos);
        }
    }

    /** Begins the next group when all remaining workers have reported. */
    void advance(long nowNanos) {
        recovering.removeIf(name -> !roster.has(name));
        List<Member> left = roster.get(recovering);
        if (left.stream().anyMatch(worker -> !worker.is(Phase.BROKEN))) {
            return;
        }
        recovering.clear();
        epochs.removeAll();
        if (GroupPlanner.furthestStep(left) < 0) {
            // No worker has a complete state: new processes start from the last checkpoint.
            left.forEach(worker -> actions.kill(worker.name()));
            actions.save();
            return;
        }
        GroupPlan plan = planner.recovery(left, epochs.applied());
        left.stream()
                .map(Member::name)
                .filter(name -> !plan.ranks().contains(name))
                .forEach(name -> epochs.dismiss(name, nowNanos));
        epochs.begin(plan);
    }

    /** Reports, once after a loss, that all workers of the next group process samples. */
    void reportRecovered(EpochCost cost) {
        if (!lost.isEmpty()) {
            var timings = new ChangeTimings(Duration.ofNanos(cost.fullNanos() - lostNanos), cost.pause());
            actions.recovered(List.copyOf(lost), timings);
            lost.clear();
        }
    }

    boolean isRecovering() {
        return !recovering.isEmpty();
    }

    /** When a worker with a seat was last lost. */
    long lostNanos() {
        return lostNanos;
    }
}
