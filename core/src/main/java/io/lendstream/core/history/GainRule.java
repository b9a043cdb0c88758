package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.SlotClass;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A gang gets the units of a decision together: it trains on none before all are bound, and gives all that are left
 * back in the step in which one is lost. A gang that trains loses units only by a decision. It is judged by the owners
 * of the units, not by their parts.
 */
final class GainRule implements HistoryRule {
    private final Violations violations;
    /** What gangs are about to get, by decision. */
    private final Map<DecisionId, Gain> open = new TreeMap<>();

    private Optional<ClusterState> before = Optional.empty();

    private record Gain(JobId job, List<GpuId> units) {}

    /** How many units of a gain are in use, on their way, on their way back, and none of these. */
    private record Count(int up, int coming, int leaving, int lost) {}

    GainRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        before = Optional.of(state);
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        ClusterState state = replayed.state();
        Optional<JobChange> change = decision.action().jobChange();
        if (change.flatMap(changed -> gang(state, changed.job())).isEmpty()) {
            return;
        }
        List<GpuId> units = new ArrayList<>();
        for (GpuId gpu : change.get().allocation().gpus()) {
            state.gpus().get(gpu).filter(unit -> isComing(unit, decision.id())).ifPresent(unit -> units.add(gpu));
        }
        if (!units.isEmpty()) {
            open.put(decision.id(), new Gain(change.get().job(), List.copyOf(units)));
        }
    }

    private static Optional<JobState> gang(ClusterState state, JobId job) {
        return state.jobs().get(job).filter(known -> known.spec().shape().gang());
    }

    private static boolean isComing(GpuState unit, DecisionId decision) {
        return unit.owner()
                .asBinding()
                .filter(binding -> binding.decision().equals(decision))
                .isPresent();
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        boolean mayDecide = replayed.scheduler()
                        .decidesFrom()
                        .filter(replayed.state().now()::isBefore)
                        .isEmpty()
                && !replayed.state().mode().isAdvisory();
        if (!replayed.changed().owners().isEmpty()) {
            open.replaceAll((decision, gain) -> renamed(gain, replayed));
            open.entrySet().removeIf(gain -> isOver(gain.getKey(), gain.getValue(), replayed, mayDecide));
        }
        if (mayDecide) {
            replayed.changed().jobs().forEach(job -> shrunk(job, replayed));
        }
    }

    /**
     * The same gain by the names that it has now: a unit that the gang was found on instead of another one of the same
     * class takes its place.
     */
    private Gain renamed(Gain gain, ReplayedEvent replayed) {
        List<GpuId> units = new ArrayList<>(gain.units());
        for (int i = 0; i < units.size(); i++) {
            Optional<GpuState> named = replayed.state().gpus().get(units.get(i));
            if (named.isPresent() && !isHeld(named.get(), gain.job())) {
                units.set(i, found(named.get(), gain.job(), units, replayed).orElse(units.get(i)));
            }
        }
        return new Gain(gain.job(), List.copyOf(units));
    }

    private Optional<GpuId> found(GpuState named, JobId job, List<GpuId> units, ReplayedEvent replayed) {
        SlotClass like = SlotClass.of(named);
        for (GpuId id : replayed.changed().owners()) {
            Optional<GpuState> other = replayed.state().gpus().get(id);
            boolean isNew = before.flatMap(state -> state.gpus().get(id))
                    .filter(unit -> !isHeld(unit, job))
                    .isPresent();
            if (other.isPresent()
                    && isNew
                    && isHeld(other.get(), job)
                    && like.has(other.get())
                    && !units.contains(id)) {
                return Optional.of(id);
            }
        }
        return Optional.empty();
    }

    private static boolean isHeld(GpuState unit, JobId job) {
        return unit.owner().holdingJob().filter(job::equals).isPresent();
    }

    /** Whether a gain need not be followed any more: it is in use, given back, or broken. */
    private boolean isOver(DecisionId decision, Gain gain, ReplayedEvent replayed, boolean mayDecide) {
        Count count = count(decision, gain, replayed.state());
        if (count.up() + count.coming() == 0 || count.up() == gain.units().size()) {
            return true;
        }
        if (count.coming() == gain.units().size()) {
            return false;
        }
        boolean mayHaveBeenWhole = count.coming() == 0
                && count.lost() == 0
                && replayed.event()
                        .event()
                        .asReport()
                        .map(ActuationReport::outcome)
                        .filter(Outcome.BOUND::equals)
                        .isPresent();
        if (mayDecide && !mayHaveBeenWhole && gang(replayed.state(), gain.job()).isPresent()) {
            violations.add(Rule.GROUP.violation(
                    "the %d GPUs that decision %s gives to gang %s are not together at event %d: %d in use, %d on their way, %d on their way back, %d lost"
                            .formatted(
                                    gain.units().size(),
                                    decision,
                                    gain.job(),
                                    replayed.event().sequence(),
                                    count.up(),
                                    count.coming(),
                                    count.leaving(),
                                    count.lost())));
        }
        return true;
    }

    private static Count count(DecisionId decision, Gain gain, ClusterState state) {
        int up = 0;
        int coming = 0;
        int leaving = 0;
        for (GpuId id : gain.units()) {
            Optional<GpuState> unit = state.gpus().get(id);
            if (unit.isPresent() && isHeld(unit.get(), gain.job())) {
                up += unit.get().owner().isUp() ? 1 : 0;
                coming += isComing(unit.get(), decision) ? 1 : 0;
                leaving += unit.get().owner().isReleasing() ? 1 : 0;
            }
        }
        return new Count(up, coming, leaving, gain.units().size() - up - coming - leaving);
    }

    /** Finds a gang that has fewer units than before and goes on without a decision about it. */
    private void shrunk(JobId name, ReplayedEvent replayed) {
        Optional<JobState> after = gang(replayed.state(), name).filter(job -> !job.isOver());
        int had = before.flatMap(state -> state.jobs().get(name))
                .map(JobState::gpus)
                .orElse(0);
        boolean isDecided = replayed.decisions().stream()
                .flatMap(decision -> decision.action().jobChange().stream())
                .anyMatch(change -> change.job().equals(name));
        if (after.filter(job -> job.gpus() < had).isPresent() && !isDecided) {
            violations.add(Rule.GROUP.violation("gang %s goes on with %d of its %d GPUs at event %d, without a decision"
                    .formatted(
                            name,
                            after.map(JobState::gpus).orElse(0),
                            had,
                            replayed.event().sequence())));
        }
    }
}
