package io.lendstream.core.history;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A decision that gives a job more GPUs leaves it with GPUs of one kind, if the scheduler tells kinds apart, and of one
 * that the job does not exclude. A job may hold two kinds from before; then it may give some back first. A replica is
 * started only on a kind that its service uses.
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
        if (!replayed.scheduler().settings().model().kinds()) {
            return;
        }
        decision.action()
                .asServe()
                .filter(serve -> !serve.warm())
                .ifPresent(serve -> started(decision, serve, replayed.state()));
        Optional<JobChange> change = decision.action().jobChange();
        if (change.isEmpty()) {
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

    private void started(Decision decision, Action.Serve serve, ClusterState state) {
        Optional<ServiceState> service = state.services().get(serve.service());
        for (GpuId gpu : serve.gpus()) {
            Optional<KindId> kind = state.gpus().get(gpu).flatMap(GpuState::kind);
            service.filter(known -> !known.spec().uses(kind))
                    .ifPresent(known -> violations.add(Rule.KIND.violation(
                            "decision %s starts a replica on %s, of a kind that the service does not declare: %s"
                                    .formatted(decision.id(), gpu, decision.action()))));
        }
    }
}
