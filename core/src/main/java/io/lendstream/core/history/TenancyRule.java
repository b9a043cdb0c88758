package io.lendstream.core.history;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Nothing is bound to a GPU before what ran on it was released. Where drivers do not choose units, this is judged by
 * the number of units of a node, kind and pool.
 */
final class TenancyRule implements HistoryRule {
    private final Violations violations;
    private final Map<GpuId, Tenant> running = new HashMap<>();
    private final Map<GpuId, Instant> toldAt = new HashMap<>();
    private final SlotTenancy slots;
    /** The state before the event. */
    private Optional<ClusterState> known = Optional.empty();

    TenancyRule(Violations violations) {
        this.violations = violations;
        this.slots = new SlotTenancy(violations);
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        known = Optional.of(state);
        event.event().asReport().ifPresent(report -> reported(report, state));
        event.event()
                .asCommand()
                .filter(command -> command.kind() == ControlCommand.Kind.RESET)
                .ifPresent(reset -> reset.gpus().forEach(gpu -> {
                    running.remove(gpu);
                    slots.reset(gpu, state);
                }));
        event.event().asNode().ifPresent(node -> destroyed(node, state));
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        boolean isLoan = decision.action().asLend().isPresent();
        boolean startsCold =
                decision.action().asServe().filter(serve -> !serve.warm()).isPresent();
        decision.action().asAdopt().ifPresent(adopt -> adopted(decision, adopt));
        if (isLoan || startsCold) {
            slots.decided(decision, replayed.state());
            for (GpuId gpu : decision.action().gpus()) {
                if (running.containsKey(gpu) && !slots.isCounted(gpu, replayed.state())) {
                    violations.add(
                            Rule.BIND_BEFORE_RELEASE,
                            "decision %s binds %s, where %s still runs"
                                    .formatted(decision.id(), gpu, running.get(gpu)));
                }
            }
        }
    }

    /** Only what others have started is taken over. */
    private void adopted(Decision decision, Action.Adopt adopt) {
        for (GpuId gpu : adopt.gpus()) {
            boolean isOfOthers = known.flatMap(state -> state.gpus().get(gpu))
                    .filter(unit -> unit.owner().isForeign() && !running.containsKey(gpu))
                    .isPresent();
            if (!isOfOthers) {
                violations.add(
                        Rule.BIND_BEFORE_RELEASE,
                        "decision %s takes over %s, which nothing else uses".formatted(decision.id(), gpu));
            }
        }
    }

    /** A unit that its node does not have any more has no tenant. */
    @Override
    public void settled(ReplayedEvent replayed) {
        for (GpuId id : replayed.changed().owners()) {
            if (replayed.state().gpus().get(id).isEmpty()) {
                known.ifPresent(before -> slots.reset(id, before));
            }
        }
    }

    private void reported(ActuationReport report, ClusterState state) {
        if (slots.isAbout(report)) {
            slots.reported(report, state);
            return;
        }
        boolean binds = report.outcome() == Outcome.BOUND && report.tenant().isPresent();
        boolean frees = report.outcome() == Outcome.RELEASED
                || report.outcome() == Outcome.FORCED
                || (report.outcome() == Outcome.HOLDS && report.tenant().isEmpty());
        for (GpuId gpu : binds || frees ? report.gpus() : List.<GpuId>of()) {
            if (toldAt.getOrDefault(gpu, Instant.MIN).isAfter(report.at())) {
                // Overtaken in transit: a later report about this GPU has already arrived.
                continue;
            }
            toldAt.put(gpu, report.at());
            if (frees) {
                running.remove(gpu);
                continue;
            }
            Tenant tenant = report.tenant().orElseThrow();
            Tenant before = running.put(gpu, tenant);
            if (before != null && !before.equals(tenant)) {
                violations.add(
                        Rule.BIND_BEFORE_RELEASE,
                        "%s was bound to %s at %s while %s ran on it".formatted(gpu, tenant, report.at(), before));
            }
        }
    }

    /** A MIG instance that its node no longer has was destroyed, which no driver does while something runs on it. */
    private void destroyed(Node node, ClusterState state) {
        Map<String, Set<MigInstance>> instances = new HashMap<>();
        for (Gpu gpu : node.gpus()) {
            Set<MigInstance> there = gpu.instances().stream()
                    .map(instance -> MigInstance.of(gpu, instance))
                    .collect(Collectors.toSet());
            instances.put(gpu.gpuId().value(), there);
        }
        running.keySet().removeIf(unit -> {
            int slash = unit.value().indexOf('/');
            Set<MigInstance> there = instances.get(slash < 0 ? "" : unit.value().substring(0, slash));
            return there != null
                    && state.gpus()
                            .get(unit)
                            .flatMap(GpuState::instance)
                            .filter(there::contains)
                            .isEmpty();
        });
    }
}
