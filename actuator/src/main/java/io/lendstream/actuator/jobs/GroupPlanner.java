package io.lendstream.actuator.jobs;

import io.lendstream.actuator.jobs.EpochTransition.Kind;
import io.lendstream.actuator.jobs.GroupPlan.Transfer;
import io.lendstream.actuator.jobs.Member.Phase;
import io.lendstream.core.decision.DecisionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Decides which workers train together next, from the job's target and its workers' phases. */
final class GroupPlanner {
    private final Roster roster;
    private final JobTarget target;

    GroupPlanner(Roster roster, JobTarget target) {
        this.roster = roster;
        this.target = target;
    }

    /** Whether a first group can be built: there are workers for it, and no more of them are starting. */
    boolean canStart() {
        return !ready().isEmpty() && !isAnyStarting();
    }

    /** The next group; the current group if nothing should change. */
    GroupPlan next(List<String> members, Batching applied) {
        List<Member> present = roster.get(members);
        List<Member> joining = isAnyStarting() ? List.of() : ready();
        List<Member> staying = present.stream()
                .filter(member -> isWanted(member) || isHeld(member))
                .toList();
        if (staying.isEmpty() && !joining.isEmpty()) {
            staying = present; // newcomers need a worker with the state
        }
        List<String> ranks = new ArrayList<>(names(staying));
        ranks.addAll(names(joining));
        boolean isWhole = isAllThatIsWanted(ranks);
        Batching batching = isWhole && !ranks.isEmpty() ? target.batching() : applied;
        Kind kind = present.isEmpty() ? Kind.START : Kind.CHANGE;
        return new GroupPlan(kind, ranks, GroupPlan.transfers(staying.size(), ranks.size()), batching, isWhole);
    }

    /**
     * The group of the workers that remain after a loss; at least one of them has a complete state. The most advanced
     * workers come first and send their state to the others. Workers that should leave do so now, unless only they
     * are the most advanced.
     */
    GroupPlan recovery(List<Member> left, Batching applied) {
        long furthest = furthestStep(left);
        boolean stayersSuffice = left.stream().anyMatch(member -> isWanted(member) && member.step() == furthest);
        List<Member> needed = left.stream()
                .filter(member -> !stayersSuffice || isWanted(member))
                .sorted(Comparator.comparing(member -> member.step() == furthest ? 0 : 1))
                .toList();
        long whole = needed.stream().filter(member -> member.step() == furthest).count();
        List<String> ranks = names(needed);
        List<Transfer> transfers = GroupPlan.transfers(Math.toIntExact(whole), ranks.size());
        return new GroupPlan(Kind.RECOVER, ranks, transfers, applied, isAllThatIsWanted(ranks));
    }

    /** The last step that one of these workers has completed; -1 if none has a complete state. */
    static long furthestStep(List<Member> members) {
        return members.stream().mapToLong(Member::step).max().orElse(-1);
    }

    /** Whether these workers are in all slots of the job's target, and in no other. */
    boolean isAllThatIsWanted(Collection<String> names) {
        return target.isExactly(names.stream()
                .flatMap(name -> roster.get(name).slots().stream())
                .toList());
    }

    private List<Member> ready() {
        return roster.all().stream()
                .filter(member -> member.is(Phase.READY) && isWanted(member))
                .toList();
    }

    private boolean isAnyStarting() {
        return roster.all().stream().anyMatch(member -> member.is(Phase.STARTING) && isWanted(member));
    }

    private boolean isWanted(Member member) {
        return target.wants(member.slots());
    }

    /** Whether a leaving worker waits for a newcomer of the same change, which replaces it: a move. */
    private boolean isHeld(Member leaving) {
        return leaving.slots().stream()
                .map(target::releasedBy)
                .flatMap(Optional::stream)
                .anyMatch(this::isAnyJoiningBy);
    }

    private boolean isAnyJoiningBy(DecisionId change) {
        return roster.all().stream()
                .anyMatch(member ->
                        member.isNew() && isWanted(member) && member.cause().equals(change));
    }

    private static List<String> names(List<Member> members) {
        return members.stream().map(Member::name).toList();
    }
}
