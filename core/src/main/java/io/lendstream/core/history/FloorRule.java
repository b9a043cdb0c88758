package io.lendstream.core.history;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Inference is never under its floor. A fault may take replicas away; a decision must not take those that the floor
 * needs. Replicas in a form that a service does not declare any more count only while they serve, because it never
 * wakes them; they may make room for others, whose units are then promised to the service. A service that is planned
 * onto MIG instances is not checked, because the number of its replicas means little. The floors of roles are in {@link
 * RoleFloorRule}.
 */
final class FloorRule implements HistoryRule {
    private final Violations violations;
    private final Map<ServiceId, Warm> warmBefore = new HashMap<>();
    private Optional<ClusterState> before = Optional.empty();
    private boolean ended;

    /**
     * The warm replicas of a service.
     *
     * @param leftOut those in a form that it does not declare any more
     */
    private record Warm(int declared, int leftOut) {
        static final Warm NONE = new Warm(0, 0);

        int all() {
            return declared + leftOut;
        }

        Warm plus(Warm other) {
            return new Warm(declared + other.declared, leftOut + other.leftOut);
        }
    }

    FloorRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void before(DomainEvent event, ClusterState state) {
        before = Optional.of(state);
        ended = endsReplica(event, state);
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        if (replayed.event().event().asService().isPresent()) {
            warmBefore.clear();
            before.ifPresent(known -> warmBefore.putAll(warm(known, replayed.state())));
        }
        if (!replayed.changed().owners().isEmpty()) {
            floors(replayed.state(), ended || replayed.hasQuarantined());
        }
    }

    private void floors(ClusterState state, boolean fault) {
        Map<ServiceId, Warm> warm = warm(state, state);
        Set<ServiceId> planned = new HashSet<>();
        state.slices().ifPresent(plan -> planned.addAll(plan.services()));
        for (GpuState gpu : state.gpus().values()) {
            if (!gpu.isWhole()) {
                warmReplicaOf(gpu.owner()).ifPresent(planned::add);
            }
        }
        for (ServiceState service : state.services().values()) {
            if (service.spec().hardware().hasRoles()) {
                continue; // each role has its own floor
            }
            ServiceId name = service.spec().service();
            Warm has = warm.getOrDefault(name, Warm.NONE);
            Warm had = warmBefore.getOrDefault(name, Warm.NONE);
            int floor = service.spec().floor(ReplicaRole.ALL);
            boolean isUnder = has.all() < floor && has.all() < had.all();
            if (isUnder && !fault && !planned.contains(name) && !isReplaced(service, had, has, state)) {
                violations.add(
                        Rule.FLOOR,
                        "service %s went from %d to %s at %s, under its floor of %d"
                                .formatted(name, had.all(), Reason.counted(has.all(), "replica"), state.now(), floor));
            }
        }
        warmBefore.clear();
        warmBefore.putAll(warm);
    }

    /** Whether only left-out replicas have stopped, to make room for others. */
    private static boolean isReplaced(ServiceState service, Warm had, Warm has, ClusterState state) {
        Tenant tenant = new Tenant.Service(service.spec().service());
        return has.declared() >= had.declared()
                && (!service.spec().hasGroups()
                        || state.promises().stream()
                                .anyMatch(promise -> promise.tenant().equals(tenant)));
    }

    /**
     * The warm replicas by service, as far as they count.
     *
     * @param declared the state whose declarations say what counts
     */
    private static Map<ServiceId, Warm> warm(ClusterState state, ClusterState declared) {
        Map<ServiceId, Warm> warm = new HashMap<>();
        for (GpuState gpu : state.gpus().values()) {
            Optional<ServiceId> name = gpu.part().isPresent() ? Optional.empty() : warmReplicaOf(gpu.owner());
            name.ifPresent(service -> {
                boolean hasGroups =
                        spec(service, declared).map(InferenceService::hasGroups).orElse(false);
                count(warm, service, !hasGroups, gpu.owner().isServing());
            });
        }
        for (ReplicaGroup group : ReplicaGroup.all(state.clusterIndex())) {
            boolean isDeclared = spec(group.service(), declared)
                    .filter(spec -> declares(spec, group))
                    .isPresent();
            if (group.isWarm()) {
                count(warm, group.service(), isDeclared, group.isServing());
            }
        }
        return warm;
    }

    private static void count(Map<ServiceId, Warm> warm, ServiceId service, boolean isDeclared, boolean isServing) {
        if (isDeclared || isServing) {
            warm.merge(service, isDeclared ? new Warm(1, 0) : new Warm(0, 1), Warm::plus);
        }
    }

    private static Optional<InferenceService> spec(ServiceId service, ClusterState state) {
        return state.services().get(service).map(ServiceState::spec);
    }

    /** Whether a replica has a shape, a role and a kind that its service declares. */
    static boolean declares(InferenceService spec, ReplicaGroup group) {
        return spec.hardware().declares(group.part(), group.kind());
    }

    /**
     * Whether a warm replica has ended by itself. One that a decision ends is not warm any more when its end is
     * reported.
     */
    static boolean endsReplica(DomainEvent event, ClusterState state) {
        return event.event()
                .asReport()
                .filter(report -> isOfSlots(report)
                        || report.gpus().stream()
                                .flatMap(gpu -> state.gpus().get(gpu).stream())
                                .flatMap(gpu -> warmReplicaOf(gpu.owner()).stream())
                                .anyMatch(service -> tellsTheEnd(report, new Tenant.Service(service))))
                .isPresent();
    }

    /** Whether replicas that a driver does not name by their units are fewer than the state has. */
    private static boolean isOfSlots(ActuationReport report) {
        boolean mayEnd = report.outcome() == Outcome.RELEASED
                || report.outcome() == Outcome.FORCED
                || report.outcome() == Outcome.HOLDS;
        return mayEnd
                && report.tenant().filter(Tenant::isService).isPresent()
                && (report.gpus().isEmpty() || !report.placements().isEmpty());
    }

    private static boolean tellsTheEnd(ActuationReport report, Tenant replica) {
        return switch (report.outcome()) {
            case RELEASED, FORCED -> report.tenant().filter(replica::equals).isPresent();
            case HOLDS -> report.tenant().filter(replica::equals).isEmpty();
            default -> false;
        };
    }

    private static Optional<ServiceId> warmReplicaOf(Owner owner) {
        return owner.isUp() ? owner.replicaOf() : Optional.empty();
    }
}
