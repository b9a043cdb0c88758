package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A decision that gives a job more GPUs leaves it with GPUs of one kind, if the scheduler tells kinds apart, and of one
 * that the job does not exclude. A job may hold two kinds from before; then it may give some back first.
 */
final class KindRule implements HistoryRule {
    private final Violations violations;
    private Optional<ClusterState> before = Optional.empty();

    KindRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        before = Optional.of(state);
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        Optional<JobChange> change = decision.action().jobChange();
        if (change.isEmpty() || !replayed.scheduler().settings().model().kinds()) {
            return;
        }
        List<GpuId> gpus = change.get().allocation().gpus();
        List<GpuId> held = before.flatMap(state -> state.jobs().get(change.get().job()))
                .map(job -> job.allocation().gpus())
                .orElse(List.of());
        Set<KindId> kinds = new TreeSet<>();
        gpus.forEach(
                gpu -> replayed.state().gpus().get(gpu).flatMap(GpuState::kind).ifPresent(kinds::add));
        if (held.containsAll(gpus)) {
            return;
        }
        replayed.state()
                .jobs()
                .get(change.get().job())
                .flatMap(job -> kinds.stream().filter(job.spec()::excludes).findFirst())
                .ifPresent(kind -> violations.add(
                        Rule.KIND.violation("decision %s gives a job GPUs of kind %s, which it excludes: %s"
                                .formatted(decision.id(), kind, decision.action()))));
        if (kinds.size() > 1) {
            violations.add(Rule.KIND.violation("decision %s gives a job GPUs of several kinds, %s: %s"
                    .formatted(decision.id(), kinds, decision.action())));
        }
    }
}
