package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Judges which of the things that run already are taken over. What an actuator finds says who claims something; what
 * agents report says which units it uses. Whatever is not clear stays foreign, with the reason.
 *
 * @param isAsked whether an operator asks for the adoption now; if so, a service also gets what it claims later than
 *     usual
 */
public record AdoptionClaims(ClusterEntities entities, Instant now, boolean isAsked) {
    /** Something has to be found for so long, unchanged: a job starts its workers one after another. */
    static final Duration SETTLED = Duration.ofSeconds(30);

    /**
     * A service takes over by itself what is found so soon after its declaration, or after the first look at a node. A
     * selector that matches more later may match something else.
     */
    static final Duration WINDOW = Duration.ofMinutes(10);

    /** An older sample of a node says nothing about now. */
    private static final Duration FRESH = Duration.ofSeconds(60);

    /** Longer than an actuator takes to find something, and to find it unchanged. */
    static final Duration LOOK = Duration.ofMinutes(2);

    /**
     * Whether a service without a replica gets none yet, because its own may run already: until actuators have had time
     * to look at their nodes. Their next report on what they find has all services looked at again.
     */
    boolean isTooEarly(InferenceService service) {
        if (service.at().plus(LOOK).isAfter(now) && !entities.actuators().isEmpty()) {
            return true;
        }
        Set<String> looked = new HashSet<>();
        for (NodeState node : entities.nodes().values()) {
            if (node.findings().isPresent()) {
                looked.add(node.findings().get().actuator());
                if (node.findings().get().since().plus(LOOK).isAfter(now)) {
                    return true;
                }
            }
        }
        for (ActuatorDescription actuator : entities.actuators().values()) {
            if (!looked.contains(actuator.actuator())
                    && actuator.at().plus(LOOK).isAfter(now)) {
                return true;
            }
        }
        return false;
    }

    /** Whether something was found a short time ago that a service alone claims, and that it is about to get. */
    boolean isComing(ServiceId service) {
        List<Tenant> alone = List.of(new Tenant.Service(service));
        for (NodeState node : entities.nodes().values()) {
            for (Findings.Seen seen : node.findings().map(Findings::seen).orElse(List.of())) {
                boolean isNew =
                        !seen.since().isAfter(now) && seen.since().plus(LOOK).isAfter(now);
                if (isNew && !seen.late() && seen.what().claimedBy().equals(alone)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** All claims, by node and name. */
    public List<AdoptionClaim> all() {
        List<AdoptionClaim> claims = new ArrayList<>();
        for (NodeState node : entities.nodes().values()) {
            node.findings().ifPresent(findings -> of(node, findings, claims));
        }
        return new JobClaims(entities).judged(claims);
    }

    private void of(NodeState node, Findings findings, List<AdoptionClaim> claims) {
        if (findings.seen().isEmpty()) {
            return;
        }
        Map<String, List<GpuState>> byUser = new HashMap<>();
        for (GpuState unit : unitsOn(node.node().nodeId())) {
            for (String user : unit.owner().asForeign().map(ForeignUse::users).orElse(List.of())) {
                byUser.computeIfAbsent(user, any -> new ArrayList<>()).add(unit);
            }
        }
        Optional<String> hindrance = against(node);
        for (Findings.Seen seen : findings.seen()) {
            if (!byUser.containsKey(seen.what().user()) && isTakenOver(node, findings, seen.what())) {
                continue;
            }
            AdoptionClaim claim = claim(seen, byUser.getOrDefault(seen.what().user(), List.of()));
            claims.add(hindrance
                    .filter(any -> claim.isClear())
                    .map(claim::hindered)
                    .orElse(claim));
        }
    }

    /** Whether the one that claims something got it after it was last found: the next report finds it no more. */
    private boolean isTakenOver(NodeState node, Findings findings, FoundTenant found) {
        return found.claimedBy().size() == 1
                && unitsOn(node.node().nodeId()).stream()
                        .anyMatch(unit -> unit.isHeldBy(found.claimedBy().get(0))
                                && (unit.owner().isAdoption() || !unit.since().isBefore(findings.at())));
    }

    /** Why nothing is taken over on a node now. */
    Optional<String> against(NodeState node) {
        boolean isSilent = node.lastSampleAt()
                .filter(last -> !last.plus(FRESH).isBefore(now))
                .isEmpty();
        return entities.scopes()
                .dispute(node.node().nodeId())
                .or(() -> isSilent
                        ? Optional.of("the agent of %s is silent"
                                .formatted(node.node().nodeId()))
                        : Optional.empty());
    }

    private List<GpuState> unitsOn(NodeId node) {
        return UnitsByNode.on(entities.clusterIndex(), node);
    }

    private AdoptionClaim claim(Findings.Seen seen, List<GpuState> units) {
        FoundTenant found = seen.what();
        List<GpuId> ids = units.stream().map(GpuState::gpuId).toList();
        AdoptionClaim none = new AdoptionClaim(found, Optional.empty(), ids, Optional.empty(), Optional.empty());
        if (found.claimedBy().size() != 1) {
            return none.hindered(
                    found.claimedBy().isEmpty()
                            ? "no selector matches it"
                            : "the selectors of %s match it, and only one may"
                                    .formatted(found.claimedBy().stream()
                                            .map(Tenant::toString)
                                            .collect(Collectors.joining(" and "))));
        }
        Tenant tenant = found.claimedBy().get(0);
        AdoptionClaim claim = new AdoptionClaim(found, Optional.of(tenant), ids, Optional.empty(), Optional.empty());
        Optional<String> obstacle = againstUnits(found, units).or(() -> againstHaste(seen, units));
        if (obstacle.isPresent()) {
            return claim.hindered(obstacle.get());
        }
        return tenant.match(Tenant.Cases.of(
                job -> ofJob(claim, entities.jobs().get(job.job())),
                service -> ofService(claim, entities.services().get(service.service()), seen, units)));
    }

    /** What speaks against some units: another user of them, or none. */
    static Optional<String> againstUnits(FoundTenant found, List<GpuState> units) {
        if (units.isEmpty()) {
            return Optional.of("no agent reports a free or foreign GPU that it uses");
        }
        for (GpuState unit : units) {
            ForeignUse use = unit.owner().asForeign().orElseThrow();
            if (use.freeAt().isPresent()) {
                return Optional.of("%s is unused just now".formatted(unit.gpuId()));
            }
            List<String> users = use.users();
            Optional<String> other =
                    users.stream().filter(user -> !user.equals(found.user())).findFirst();
            if (other.isPresent()) {
                return Optional.of("%s is also used by %s".formatted(unit.gpuId(), other.get()));
            }
        }
        return Optional.empty();
    }

    /** Why what runs on some units is not all of it; empty if it is, or does not say how many workers it has. */
    static Optional<String> againstWorkers(FoundTenant found, int units) {
        return found.workers()
                .filter(workers -> workers != units)
                .map(workers -> "it has %s, and agents report it on %s"
                        .formatted(Reason.counted(workers, "worker"), Reason.counted(units, "GPU")));
    }

    private Optional<String> againstHaste(Findings.Seen seen, List<GpuState> units) {
        if (seen.since().isAfter(now)) {
            return Optional.of(
                    "it could not be taken over; it is tried again after %s".formatted(Wording.time(seen.since())));
        }
        Instant since = seen.since();
        for (GpuState unit : units) {
            since = unit.since().isAfter(since) ? unit.since() : since;
        }
        return since.plus(SETTLED).isAfter(now)
                ? Optional.of("it was found, or got a GPU, only at %s, and is watched for %d s first"
                        .formatted(Wording.time(since), SETTLED.toSeconds()))
                : Optional.empty();
    }

    /** What speaks against a claim of a job, as far as it is not about all of its parts. */
    private AdoptionClaim ofJob(AdoptionClaim claim, Optional<JobState> known) {
        if (known.isEmpty()) {
            return claim.hindered("the job is not declared any more");
        }
        JobState job = known.get();
        if (job.isOver()) {
            return claim.hindered("the job has ended");
        }
        if (!job.awaitsAdoption()) {
            return claim.hindered(
                    job.spec().adopt().isPresent()
                            ? "the job has been started or taken over already"
                            : "the job does not claim anything any more");
        }
        return claim;
    }

    static Optional<String> againstKinds(List<GpuState> units) {
        Set<KindId> kinds = kinds(units);
        return kinds.size() > 1
                ? Optional.of("its GPUs are of several kinds: "
                        + kinds.stream().map(KindId::toString).collect(Collectors.joining(", ")))
                : Optional.empty();
    }

    static Set<KindId> kinds(List<GpuState> units) {
        return units.stream().flatMap(unit -> unit.kind().stream()).collect(Collectors.toCollection(TreeSet::new));
    }

    private AdoptionClaim ofService(
            AdoptionClaim claim, Optional<ServiceState> known, Findings.Seen seen, List<GpuState> units) {
        if (known.isEmpty()) {
            return claim.hindered("the service is not declared any more");
        }
        InferenceService service = known.get().spec();
        if (service.adopt().isEmpty()) {
            return claim.hindered("the service does not claim anything any more");
        }
        if (!isAsked && seen.late()) {
            return claim.hindered(
                    "it was found at %s, more than %d min after the service was declared and its node was first looked at; 'lendstream adopt service/%s' takes it over"
                            .formatted(Wording.time(seen.since()), WINDOW.toMinutes(), service.service()));
        }
        Optional<String> unfit = againstWorkers(claim.found(), units.size())
                .or(() -> againstKinds(units))
                .or(() -> againstInstances(service, units));
        if (unfit.isPresent()) {
            return claim.hindered(unfit.get());
        }
        Optional<KindId> kind = units.get(0).kind();
        if (!service.uses(kind)) {
            return claim.hindered("the service does not declare kind "
                    + kind.map(KindId::toString).orElse("unknown"));
        }
        return service.hasGroups() ? inShape(claim, service, kind) : alone(claim);
    }

    private static Optional<String> againstInstances(InferenceService service, List<GpuState> units) {
        if (units.stream().allMatch(GpuState::isWhole)) {
            return Optional.empty();
        }
        return service.hasGroups()
                ? Optional.of("it uses a MIG instance, and replicas in shapes have whole GPUs")
                : againstInstances("service", service.sliceMemoryBytes(), units);
    }

    /** Why units with MIG instances among them are not taken over: a tenant says first that it runs on one. */
    static Optional<String> againstInstances(String kind, Optional<Long> sliceBytes, List<GpuState> units) {
        if (units.stream().allMatch(GpuState::isWhole)) {
            return Optional.empty();
        }
        if (units.size() > 1) {
            return Optional.of("it uses %d units, among them MIG instances, and may have one".formatted(units.size()));
        }
        MigInstance instance = units.get(0).instance().orElseThrow();
        return sliceBytes.isEmpty()
                ? Optional.of("it uses a MIG instance, and the %s declares no sliceMemory".formatted(kind))
                : sliceBytes
                        .filter(bytes -> bytes > instance.memoryBytes())
                        .map(bytes ->
                                "it uses a MIG instance of %s, and the %s declares a sliceMemory of %d bytes, which is more"
                                        .formatted(instance.profile(), kind, bytes));
    }

    private static AdoptionClaim alone(AdoptionClaim claim) {
        return claim.units().size() == 1
                ? claim
                : claim.hindered("it uses %d GPUs, and a replica of the service has 1; declare shapes"
                        .formatted(claim.units().size()));
    }

    /** Neither the units nor the selector tell shapes of one size apart, nor a part of a replica on several nodes. */
    private static AdoptionClaim inShape(AdoptionClaim claim, InferenceService service, Optional<KindId> kind) {
        int size = claim.units().size();
        List<ReplicaShape> possible = service.hardware().shapes().stream()
                .filter(each -> each.gpusPerNode() == size && each.uses(kind))
                .toList();
        Optional<ReplicaShape> fitting =
                possible.stream().filter(each -> each.nodes() == 1).findFirst();
        if (fitting.isEmpty()) {
            return claim.hindered("the service declares no shape of %s on one node of its kind"
                    .formatted(Reason.counted(size, "GPU")));
        }
        if (possible.size() > 1) {
            return claim.hindered(
                    "it uses %s, as each node of shapes %s does; declare shapes of other sizes or kinds, or two services, each with its own selector"
                            .formatted(
                                    Reason.counted(size, "GPU"),
                                    possible.stream().map(ReplicaShape::inWords).collect(Collectors.joining(" and "))));
        }
        return new AdoptionClaim(claim.found(), claim.tenant(), claim.units(), fitting, Optional.empty());
    }
}
