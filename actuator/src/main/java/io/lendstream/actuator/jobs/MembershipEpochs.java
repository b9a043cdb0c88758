package io.lendstream.actuator.jobs;

import io.lendstream.actuator.jobs.EpochTransition.Kind;
import io.lendstream.actuator.jobs.Member.Phase;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The membership epochs of a job: which workers train, and the transition to the next group. The workers build that
 * group while they train in the current one, and all agree on the step after which they use it. Leaving workers end
 * after that step.
 */
final class MembershipEpochs {
    private static final Logger LOG = LoggerFactory.getLogger(MembershipEpochs.class);

    /** How long a worker may take to end once it may leave. */
    static final Duration LEAVE = Duration.ofSeconds(10);

    private final JobId job;
    private final Roster roster;
    private final MembershipActions actions;

    private long epoch;
    private List<String> members = List.of();
    private Batching applied;
    private Batching nextApplied;
    private Optional<EpochTransition> transition = Optional.empty();
    /**
     * The last completed transition, while a worker still builds its group. The next must wait, because it would end
     * their store.
     */
    private Optional<EpochTransition> building = Optional.empty();
    /** The cost of the last completed transition, until all have reported it. */
    private Optional<EpochCost> measured = Optional.empty();

    MembershipEpochs(JobId job, Roster roster, Batching batching, MembershipActions actions) {
        this.job = job;
        this.roster = roster;
        this.applied = batching;
        this.nextApplied = batching;
        this.actions = actions;
    }

    /** Takes over the epoch of an earlier node process. */
    void restore(long lastEpoch, List<String> lastMembers, Batching lastApplied) {
        epoch = lastEpoch;
        members = lastMembers;
        applied = lastApplied;
    }

    /** Begins the transition to a group, which each of its workers builds. */
    void begin(GroupPlan plan) {
        epoch++;
        List<String> before = plan.kind() == Kind.CHANGE ? members : List.of();
        var begun = new EpochTransition(epoch, plan.kind(), before, plan.ranks(), plan.isWhole());
        transition = Optional.of(begun);
        actions.openStore(epoch);
        nextApplied = plan.batching();
        LOG.info("{}: epoch {} ({}) with {}", job, epoch, plan.kind(), plan.ranks());
        actions.save();
        for (int rank = 0; rank < plan.ranks().size(); rank++) {
            String name = plan.ranks().get(rank);
            actions.clearDeadline(name);
            actions.send(name, MembershipMessages.prepare(epoch, plan, rank));
        }
        commitIfPrepared(begun);
    }

    /** Records that a worker has built the group of an epoch. */
    void prepared(Member worker, long builtEpoch) {
        transitionTo(builtEpoch).ifPresent(now -> {
            worker.hasBuilt();
            now.addPrepared(worker.name());
            commitIfPrepared(now);
        });
        building.filter(done -> done.epoch() == builtEpoch).ifPresent(done -> {
            worker.hasBuilt();
            done.addPrepared(worker.name());
            if (done.isPrepared()) {
                building = Optional.empty();
            }
        });
    }

    private void commitIfPrepared(EpochTransition prepared) {
        if (!prepared.mayCommit()) {
            return;
        }
        prepared.commit();
        actions.save();
        prepared.all().forEach(name -> sendCommit(prepared, name));
    }

    /** Orders a worker to enter the next epoch, or to leave. */
    void sendCommit(EpochTransition committed, String name) {
        boolean stays = committed.after().contains(name);
        actions.send(
                name,
                stays
                        ? MembershipMessages.commit(epoch)
                        : MembershipMessages.commitToLeave(
                                epoch, committed.after().isEmpty()));
    }

    /** Records that a worker has finished the last collective of the previous epoch. */
    void passed(Member worker, long intoEpoch, long nowNanos) {
        transitionTo(intoEpoch).ifPresent(now -> {
            worker.enter(now.after().contains(worker.name()) ? Phase.TRAINING : Phase.LEAVING);
            now.addPassed(worker.name());
            completeIfPassed(now, nowNanos);
        });
    }

    /** Completes a transition if all workers of both epochs have passed. */
    void completeIfPassed(EpochTransition done, long nowNanos) {
        if (!done.isPassed() || transition.filter(done::equals).isEmpty()) {
            return;
        }
        transition = Optional.empty();
        members = done.after();
        applied = nextApplied;
        measured = Optional.of(new EpochCost(done.epoch()));
        building = Optional.of(done).filter(each -> !each.isPrepared());
        List<Slot> added = new ArrayList<>();
        for (String name : done.after()) {
            Member worker = roster.get(name);
            actions.clearDeadline(name);
            if (!worker.is(Phase.BROKEN)) {
                worker.enter(Phase.TRAINING);
            }
            if (!done.before().contains(name) && done.kind() != Kind.RECOVER) {
                added.addAll(worker.slots());
            }
        }
        actions.save();
        letGo(done, nowNanos);
        actions.bound(added);
    }

    /** The previous group is unused: remaining workers drop it, and leaving workers may end. */
    private void letGo(EpochTransition done, long nowNanos) {
        for (String name : done.before()) {
            if (!roster.has(name)) {
                continue; // it has left already
            }
            if (!done.after().contains(name)) {
                roster.get(name).enter(Phase.LEAVING);
                actions.setDeadline(name, nowNanos + LEAVE.toNanos());
            }
            actions.send(name, MembershipMessages.done(epoch));
        }
    }

    /** Ends a worker that trains in no group, after a grace period. */
    void dismiss(String name, long nowNanos) {
        roster.get(name).enter(Phase.LEAVING);
        actions.setDeadline(name, nowNanos + LEAVE.toNanos());
        actions.send(name, MembershipMessages.leave(epoch));
    }

    /** Records that a leaving worker has ended: the transition need not wait for it. */
    void left(String name) {
        transition.ifPresent(now -> now.addPassed(name));
        remove(name);
    }

    void remove(String name) {
        members = members.stream().filter(each -> !each.equals(name)).toList();
    }

    void removeMissing() {
        members = members.stream().filter(roster::has).toList();
    }

    void removeAll() {
        members = List.of();
    }

    /** Abandons a transition that binds no worker; training continues in the current group. */
    void giveUpTransition() {
        actions.endStore();
        transition = Optional.empty();
    }

    /** Abandons the transition and the data of the last one, because the group is broken. */
    void giveUpAll() {
        transition = Optional.empty();
        measured = Optional.empty();
        building = Optional.empty();
        actions.endStore();
    }

    /** Continues a transition that was binding when an earlier node process ended. */
    EpochTransition resume(JobFile.Pending left, Batching batching) {
        Kind kind = Kind.valueOf(left.kind());
        List<String> before = kind == Kind.CHANGE ? members : List.of();
        var resumed = new EpochTransition(left.epoch(), kind, before, left.members(), left.wholeChange());
        resumed.commit();
        transition = Optional.of(resumed);
        nextApplied = left.wholeChange() && !left.members().isEmpty() ? batching : applied;
        return resumed;
    }

    /** Running workers that have a seat in the current group or may have one in the next. */
    Set<String> involved() {
        Set<String> involved = new LinkedHashSet<>(members);
        transition.filter(EpochTransition::isBinding).ifPresent(now -> involved.addAll(now.after()));
        involved.removeIf(name -> !roster.has(name) || roster.get(name).is(Phase.LEAVING));
        return involved;
    }

    /** Running workers that have entered the current transition in order to leave. */
    List<String> passedToLeave() {
        return transition.map(EpochTransition::passed).orElse(List.of()).stream()
                .filter(name -> roster.has(name) && roster.get(name).is(Phase.LEAVING))
                .toList();
    }

    /** Whether a worker has a seat in the current group, or may have one in the next. */
    boolean isSeated(String name) {
        return members.contains(name)
                || transition
                        .filter(now -> now.concerns(name) && now.isBinding())
                        .isPresent();
    }

    boolean concernsTransition(String name) {
        return transition.filter(now -> now.concerns(name)).isPresent();
    }

    /** Whether there is a transition that binds no worker yet, so training can continue without it. */
    boolean canGiveUpTransition() {
        return transition.filter(now -> !now.isBinding()).isPresent();
    }

    /** Running workers that the transition adds to the group. */
    List<String> joining() {
        return transition.map(EpochTransition::after).orElse(List.of()).stream()
                .filter(name -> roster.has(name) && !members.contains(name))
                .toList();
    }

    private Optional<EpochTransition> transitionTo(long asked) {
        return transition.filter(now -> now.epoch() == asked);
    }

    boolean isChanging() {
        return transition.isPresent();
    }

    boolean isBuilding() {
        return building.isPresent();
    }

    boolean isMeasuring() {
        return measured.isPresent();
    }

    Optional<EpochCost> costOf(long asked) {
        return measured.filter(cost -> cost.isOf(asked));
    }

    void endMeasuring() {
        measured = Optional.empty();
    }

    long epoch() {
        return epoch;
    }

    List<String> members() {
        return members;
    }

    Batching applied() {
        return applied;
    }

    /** The transition that a later node process must continue. */
    Optional<JobFile.Pending> pending() {
        return transition.filter(EpochTransition::isBinding).map(EpochTransition::pending);
    }
}
