package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Takes over what runs already and is claimed by a declared job or service: one decision for each. It moves nothing, so
 * that its decisions are binding in advisory mode too, and no limit of changes counts them.
 */
final class Adoption {
    /** An actuator has so long to say that it has what it takes over. */
    static final Duration TIME_TO_ANSWER = Duration.ofMinutes(5);

    private final StepBuilder builder;
    private final SchedulerSettings settings;

    Adoption(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
    }

    /**
     * Whether a tenant that an actuator reports on a foreign unit may still have been taken over: its adoption was
     * undone here before the actuator could answer.
     */
    static boolean mayStillTakeOver(StepBuilder step, Optional<Tenant> reported) {
        return reported.filter(tenant -> tenant.match(Tenant.Cases.of(
                        job -> step.jobs()
                                .get(job.job())
                                .filter(known -> !known.isOver() && known.awaitsAdoption())
                                .isPresent(),
                        service -> step.services()
                                .get(service.service())
                                .filter(known -> known.spec().adopt().isPresent()
                                        && !known.spec().hasGroups())
                                .isPresent())))
                .isPresent();
    }

    /** Whether the event of a step may lead to an adoption. */
    private static boolean mayFollow(StepBuilder step) {
        boolean finds = step.event()
                .asReport()
                .filter(report -> !report.found().isEmpty())
                .isPresent();
        return finds
                || asked(step).isPresent()
                || step.event().isTick()
                || step.event().asStarted().isPresent();
    }

    private static Optional<ControlCommand> asked(StepBuilder step) {
        return step.event().asCommand().filter(command -> command.kind() == ControlCommand.Kind.ADOPT);
    }

    void run() {
        if (!settings.model().users().heeded()) {
            return;
        }
        builder.event()
                .asReport()
                .filter(report -> report.outcome() == Outcome.HOLDS && mayStillTakeOver(builder, report.tenant()))
                .ifPresent(this::takeOverLate);
        if (!mayFollow(builder)) {
            return;
        }
        Optional<ControlCommand> command = asked(builder);
        List<Tenant> named = command.map(ControlCommand::tenants).orElse(List.of());
        Map<Tenant, List<AdoptionClaim>> clear = new LinkedHashMap<>();
        for (AdoptionClaim claim : new AdoptionClaims(builder.entities(), builder.now(), command.isPresent()).all()) {
            claim.tenant()
                    .filter(tenant -> claim.isClear() && (named.isEmpty() || named.contains(tenant)))
                    .ifPresent(tenant -> clear.computeIfAbsent(tenant, any -> new ArrayList<>())
                            .add(claim));
        }
        clear.forEach((tenant, claims) -> {
            if (claims.size() == 1
                    || !tenant.isJob()
                    || settings.model().users().remembers()) {
                adopt(tenant, claims);
            }
        });
    }

    /** An actuator has a tenant by an adoption that was undone here. It has it again, as it is. */
    private void takeOverLate(ActuationReport report) {
        Tenant tenant = report.tenant().orElseThrow();
        List<GpuId> foreign = report.gpus().stream()
                .filter(gpu -> builder.gpus()
                        .get(gpu)
                        .filter(unit -> unit.owner().isForeign())
                        .isPresent())
                .toList();
        boolean isPart = tenant.isJob()
                && (foreign.size() < report.gpus().size()
                        || foreign.size() < triedOn(tenant)
                        || new JobClaims(builder.entities()).hasPartsElsewhere(tenant, foreign));
        if (foreign.isEmpty() || isPart) {
            return;
        }
        List<AdoptionClaim> claims = new LateClaims(
                        builder.entities(), builder.now(), settings.model().users())
                .of(report, foreign);
        if (claims.stream().allMatch(AdoptionClaim::isClear)) {
            adopt(tenant, claims);
        }
    }

    /** On how many GPUs the adoption of a job was undone; 0 if that is not known. */
    private int triedOn(Tenant tenant) {
        return tenant.jobId()
                .flatMap(builder.jobs()::get)
                .map(job -> job.change().changedFrom())
                .orElse(0);
    }

    private void adopt(Tenant tenant, List<AdoptionClaim> claims) {
        List<GpuId> units =
                claims.stream().flatMap(claim -> claim.units().stream()).toList();
        Optional<QuotaRefusal> refusal = new QuotaGuard(builder).against(tenant, units);
        if (refusal.isPresent() && asked(builder).isEmpty()) {
            return; // each report would repeat it
        }
        builder.binding(true);
        if (refusal.isPresent()) {
            builder.decide(
                    builder.now(),
                    builder.because(
                            ReasonCode.ADOPTED,
                            "%s does not take over %s: %s"
                                    .formatted(
                                            tenant,
                                            inWords(claims),
                                            refusal.get().inWords()),
                            Map.of("gpus", (double) units.size()),
                            List.of()),
                    new Action.Hold(tenant.jobId(), tenant.serviceId()));
            builder.binding(!builder.mode().isAdvisory());
            return;
        }
        builder.invalidatePlan();
        tenant.jobId().ifPresent(job -> adopt(job, claims, units));
        tenant.serviceId().ifPresent(service -> adopt(service, claims));
        builder.binding(!builder.mode().isAdvisory());
    }

    private void adopt(JobId name, List<AdoptionClaim> parts, List<GpuId> claimed) {
        JobState job = builder.jobs().require(name);
        List<GpuId> units = GpuId.sorted(claimed);
        Instant until = builder.now().plus(settings.lease());
        boolean isLoan = units.stream().anyMatch(unit -> builder.gpu(unit).pool() == Pool.INFERENCE);
        JobChanges changes = new JobChanges(builder, settings);
        Allocation likely = changes.allocation(job, units);
        // It does not know Lendstream: its first change is a restart.
        Allocation allocation = new Allocation(
                units,
                likely.localBatch(),
                likely.accumulation(),
                likely.learningRateScale(),
                Mechanism.RESTART,
                likely.host());
        Tenant tenant = new Tenant.Job(name);
        Instant by = builder.now().plus(TIME_TO_ANSWER);
        DecisionId id = builder.nextId();
        builder.decide(
                by,
                because(tenant, parts, List.of(job.lastEvent())),
                new Action.Adopt(
                        tenant,
                        found(parts),
                        List.of(),
                        isLoan ? Optional.of(until) : Optional.empty(),
                        Optional.of(allocation)));
        for (GpuId unit : units) {
            Optional<Instant> lease =
                    builder.gpu(unit).pool() == Pool.INFERENCE ? Optional.of(until) : Optional.empty();
            builder.own(unit, new Owner.Binding(tenant, id, by, lease, Owner.Binding.ADOPTION));
        }
        JobState next = job.allocated(allocation, changes.sliceShare(units), id, by, builder.now())
                .aiming(units)
                .takenOver();
        builder.put(parts.size() > 1 ? next.awaiting(changes.actuators(units)) : next);
    }

    /** What is taken over, for each actuator: a process that one of them finds on two of its nodes is one. */
    private List<Adopted> found(List<AdoptionClaim> parts) {
        Map<List<String>, List<GpuId>> byUser = new LinkedHashMap<>();
        for (AdoptionClaim part : parts) {
            String actuator = builder.nodes()
                    .get(part.found().node())
                    .flatMap(NodeState::findings)
                    .map(Findings::actuator)
                    .orElse("");
            byUser.computeIfAbsent(List.of(part.found().user(), actuator), any -> new ArrayList<>())
                    .addAll(part.units());
        }
        List<Adopted> found = new ArrayList<>();
        byUser.forEach((user, units) -> found.add(new Adopted(user.get(0), units)));
        return found;
    }

    private void adopt(ServiceId name, List<AdoptionClaim> claims) {
        Tenant tenant = new Tenant.Service(name);
        Instant by = builder.now().plus(TIME_TO_ANSWER);
        DecisionId id = builder.nextId();
        List<Adopted> found = new ArrayList<>();
        List<ReplicaUnits> replicas = new ArrayList<>();
        for (AdoptionClaim claim : claims) {
            found.add(new Adopted(claim.found().user(), claim.units()));
            claim.shape()
                    .ifPresent(shape -> replicas.add(new ReplicaUnits(
                            ReplicaId.of(id, replicas.size()), shape.name(), shape.role(), claim.units())));
        }
        builder.decide(
                by,
                because(tenant, claims, List.of()),
                new Action.Adopt(tenant, found, replicas, Optional.empty(), Optional.empty()));
        for (AdoptionClaim claim : claims) {
            for (GpuId unit : claim.units()) {
                builder.put(builder.gpu(unit).withWarmHits(0));
                builder.own(unit, new Owner.Binding(tenant, id, by, Optional.empty(), Owner.Binding.ADOPTION));
            }
        }
        for (ReplicaUnits replica : replicas) {
            replica.units().forEach(unit -> builder.put(builder.gpu(unit).in(replica.part())));
        }
    }

    private static String inWords(List<AdoptionClaim> claims) {
        return claims.stream().map(AdoptionClaim::inWords).collect(Collectors.joining("; "));
    }

    private Reason because(Tenant tenant, List<AdoptionClaim> claims, List<Long> inputs) {
        int gpus = claims.stream().mapToInt(claim -> claim.units().size()).sum();
        List<Long> all = new ArrayList<>(inputs);
        claims.forEach(
                claim -> claim.units().forEach(unit -> all.add(builder.gpu(unit).changedBy())));
        return builder.because(
                ReasonCode.ADOPTED,
                "%s takes over what runs already on %s and matches its selector: %s"
                        .formatted(tenant, Reason.counted(gpus, "GPU"), inWords(claims)),
                Map.of("found", (double) claims.size(), "gpus", (double) gpus),
                all);
    }
}
