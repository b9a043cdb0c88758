package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.SharedForms.amounts;
import static io.lendstream.launcher.declare.SharedForms.length;
import static io.lendstream.launcher.declare.SharedForms.wholes;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.ServiceShapes;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** An inference service. */
final class DeclaredService implements DeclaredKind<InferenceService> {
    private static final SpecField<InferenceService, Duration> SLO = SpecField.mandatory(
            "slo",
            length(InferenceService.class, "slo"),
            InferenceService::slo,
            "Latency objective at the 99th percentile.");
    private static final SpecField<InferenceService, Double> CAPACITY = SpecField.mandatory(
            "replicaCapacityPerSecond",
            SharedForms.PER_SECOND,
            InferenceService::replicaCapacityPerSecond,
            "Requests per second of one replica within the SLO. A replica has one GPU, unless the service has shapes.");
    private static final SpecField<InferenceService, Duration> WARM_UP = SpecField.mandatory(
            "warmUp",
            length(InferenceService.class, "warmUp"),
            InferenceService::warmUp,
            "From the decision to the first answer of a replica.");
    private static final SpecField<InferenceService, Integer> FLOOR = SpecField.defaulted(
            "floor",
            ScalarForms.whole(wholes(InferenceService.class, "floorReplicas", 0)),
            0,
            InferenceService::floorReplicas,
            "Replicas that the service always keeps; of each role, if it has roles.");
    private static final SpecField<InferenceService, QueueId> QUEUE = SpecField.optional(
            "queue",
            SharedForms.QUEUE,
            InferenceService::queue,
            "The queue whose quota its replicas count in. Without it the service has no quota.");
    private static final SpecField<InferenceService, Integer> CONCURRENCY = SpecField.optional(
            "replicaConcurrency",
            ScalarForms.whole(wholes(InferenceService.class, "replicaConcurrency", 1)),
            InferenceService::replicaConcurrency,
            "Parallel requests of one replica, if they are its limit.");
    private static final SpecField<InferenceService, Long> SLICE_MEMORY = SpecField.optional(
            "sliceMemory",
            ScalarForms.memory(amounts(InferenceService.class, "sliceMemoryBytes")),
            InferenceService::sliceMemoryBytes,
            "Memory of one replica, at any batch so far. With it, plans may use MIG instances with that memory; kinds of GPU with less are left out.");
    private static final SpecField<InferenceService, List<KindCapacity>> CAPACITIES = SpecField.list(
            "capacities",
            SharedForms.capacity(),
            InferenceService::capacities,
            "The kinds of GPU that it may use, preferred ones first. Without them: all kinds, taken as alike. Not used if it has shapes.");
    private static final SpecField<InferenceService, List<ReplicaShape>> SHAPES = SpecField.list(
            "shapes",
            ReplicaShapeFields.form(),
            service -> service.hardware().shapes(),
            "The shapes of its replicas, preferred ones first. Without them a replica has one GPU.");
    private static final SpecField<InferenceService, List<RoleFloor>> ROLE_FLOORS = SpecField.list(
            "roleFloors",
            roleFloor(),
            service -> service.hardware().roleFloors(),
            "Floors of roles that differ from floor. Only of a service with shapes.");

    private static final SpecField<InferenceService, AdoptionSelector> ADOPT = SpecField.optional(
            "adopt",
            new SelectorForm(),
            InferenceService::adopt,
            "Replicas that run already and that it takes over, by attributes of the driver. Without it: none.");

    private static final SpecFields<InferenceService> SPEC = new SpecFields<>(
            "a service",
            List.of(
                    SLO,
                    CAPACITY,
                    WARM_UP,
                    FLOOR,
                    QUEUE,
                    CONCURRENCY,
                    SLICE_MEMORY,
                    CAPACITIES,
                    SHAPES,
                    ROLE_FLOORS,
                    ADOPT));

    private static ValueForm<RoleFloor> roleFloor() {
        SpecField<RoleFloor, ReplicaRole> role =
                SpecField.mandatory("role", ReplicaShapeFields.ROLES, RoleFloor::role, "The role.");
        SpecField<RoleFloor, Integer> replicas = SpecField.mandatory(
                "replicas",
                ScalarForms.whole(wholes(RoleFloor.class, "replicas", 0)),
                RoleFloor::replicas,
                "Replicas of the role that the service always keeps.");
        return new SpecFields<RoleFloor>("a floor of a role", List.of(role, replicas))
                .building(values -> new RoleFloor(values.get(role), values.get(replicas)));
    }

    @Override
    public String name() {
        return "Service";
    }

    @Override
    public String word() {
        return "service";
    }

    @Override
    public List<String> spellings() {
        return List.of("service", "services", "svc");
    }

    @Override
    public String doc() {
        return "An inference service and its SLO.";
    }

    @Override
    public Topic<InferenceService> topic() {
        return TopicCatalogue.SERVICES;
    }

    @Override
    public SpecFields<InferenceService> spec() {
        return SPEC;
    }

    @Override
    public InferenceService build(ObjectName name, Instant at, SpecValues values, Optional<InferenceService> before) {
        return new InferenceService(
                new ServiceId(name.value()),
                name.domain(),
                at,
                before.map(InferenceService::models).orElse(List.of()),
                values.get(SLO),
                values.get(CAPACITY),
                values.find(CONCURRENCY),
                values.get(FLOOR),
                values.get(WARM_UP),
                values.find(SLICE_MEMORY),
                values.find(QUEUE),
                new ServiceShapes(
                        values.get(CAPACITIES), values.get(SHAPES), values.get(ROLE_FLOORS), values.find(ADOPT)));
    }

    @Override
    public String nameOf(InferenceService service) {
        return service.service().value();
    }

    @Override
    public Optional<QueueId> queueOf(InferenceService service) {
        return service.queue();
    }

    @Override
    public boolean isRemoved(InferenceService service) {
        return service.removed();
    }

    @Override
    public List<Column<InferenceService>> columns() {
        return List.of(
                new Column<>("SLO", false, service -> Units.text(service.slo())),
                new Column<>("PER-SECOND", false, service -> Cells.number(service.replicaCapacityPerSecond())),
                new Column<>("FLOOR", false, service -> Integer.toString(service.floorReplicas())),
                new Column<>("QUEUE", false, service -> Cells.text(service.queue())),
                new Column<>("WARM-UP", true, service -> Units.text(service.warmUp())),
                new Column<>(
                        "SHAPES",
                        true,
                        service -> service.hardware().shapes().stream()
                                .map(ReplicaShape::name)
                                .collect(Collectors.joining(","))));
    }
}
