package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Follows an operator's approval of advice: makes a binding decision of it if that is still possible, else a hold. */
final class Approval {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final Safety safety;
    private final QuotaGuard quotas;
    private final AbilityGuard abilities;
    private final ApprovedGroups groups;

    Approval(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.safety = new Safety(settings);
        this.quotas = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.groups = new ApprovedGroups(builder, settings);
    }

    void follow(ControlCommand command) {
        builder.binding(true);
        Optional<Decision> approved =
                command.decision().flatMap(id -> builder.advice().flatMap(advice -> advice.find(id)));
        if (approved.isEmpty()) {
            String name = command.decision().map(Object::toString).orElse("none");
            hold(
                    "decision %s cannot be approved: it is not advice that still stands; 'lendstream explain advice' lists the advice that stands"
                            .formatted(name),
                    List.of());
            return;
        }
        Decision advice = approved.get();
        Optional<String> obstacle = advice.action().match(new Obstacle(new ApprovedStops(builder, advice.reason())));
        if (obstacle.isPresent()) {
            hold(
                    "decision %s cannot be carried out any more: %s".formatted(advice.id(), obstacle.get()),
                    advice.reason().inputs());
            return;
        }
        boolean ends = advice.isRelease() && advice.action().jobChange().isPresent();
        Reason reason = builder.because(
                ends ? ReasonCode.OVER : ReasonCode.APPROVED,
                "%s (advice %s, approved by %s)".formatted(advice.reason().text(), advice.id(), command.issuer()),
                advice.reason().numbers(),
                advice.reason().inputs());
        advice.action().match(new Again(advice, reason)).run();
    }

    private void hold(String why, List<Long> inputs) {
        builder.decide(
                builder.now(),
                builder.because(ReasonCode.APPROVED, why, Map.of(), inputs),
                new Action.Hold(Optional.empty(), Optional.empty()));
    }

    private List<GpuState> units(List<GpuId> gpus) {
        return gpus.stream().flatMap(gpu -> builder.gpus().get(gpu).stream()).toList();
    }

    private long kinds(List<GpuId> gpus) {
        return units(gpus).stream()
                .flatMap(gpu -> gpu.kind().stream())
                .distinct()
                .count();
    }

    /** Why a job must not take a unit; empty if it may. A promise to itself is no obstacle. */
    private Optional<String> againstTaking(JobId job, GpuId id) {
        boolean isKept = builder.promises().keepsFrom(new Tenant.Job(job), id);
        return againstTaking(id, isKept);
    }

    /** Why a service must not take a unit; empty if it may. Promises keep it from services as without advice. */
    private Optional<String> againstTaking(ServiceId service, GpuId id) {
        boolean isKept = builder.gpus()
                .get(id)
                .filter(unit -> new InferencePool(builder).isPromisedToOther(service, unit, quotas))
                .isPresent();
        return againstTaking(id, isKept);
    }

    private Optional<String> againstTaking(GpuId id, boolean isKeptForOther) {
        boolean isFree = builder.gpus()
                .get(id)
                .filter(gpu -> gpu.isFree() && builder.isReachable(gpu))
                .isPresent();
        if (!isFree) {
            return Optional.of("%s is not free".formatted(id));
        }
        return isKeptForOther
                ? builder.promises().tenantOf(id).map(other -> "%s is promised to %s".formatted(id, other))
                : Optional.empty();
    }

    /** The cause why an action is not possible now; empty if it is. */
    private final class Obstacle implements Action.Cases<Optional<String>> {
        private final ApprovedStops stops;

        Obstacle(ApprovedStops stops) {
            this.stops = stops;
        }

        @Override
        public Optional<String> lend(Action.Lend lend) {
            return safety.againstChanges(builder)
                    .or(() -> settings.lending() ? Optional.empty() : Optional.of("lending is off"))
                    .or(() -> safety.againstLoans(builder))
                    .or(() -> builder.jobs().get(lend.job()).flatMap(job -> safety.againstLoansTo(job, builder.now())))
                    .or(() -> new LoanGuard(builder, settings).againstAny(lend.gpus()))
                    .or(() -> change(lend.job(), lend.gpus(), lend.allocation()));
        }

        @Override
        public Optional<String> reclaim(Action.Reclaim reclaim) {
            return safety.againstEverything(builder)
                    .or(() -> change(reclaim.job(), reclaim.gpus(), reclaim.allocation()));
        }

        @Override
        public Optional<String> resize(Action.Resize resize) {
            return safety.againstChanges(builder).or(() -> change(resize.job(), resize.gpus(), resize.allocation()));
        }

        /** @param named GPUs that the action names; only a lend may change others too */
        private Optional<String> change(JobId name, List<GpuId> named, Allocation allocation) {
            Optional<JobState> known = builder.jobs().get(name);
            boolean leaves = allocation.gpus().isEmpty();
            if (known.isEmpty() || (known.get().isOver() && !leaves)) {
                return Optional.of("job %s has ended".formatted(name));
            }
            JobState job = known.get();
            if (job.isOver()) {
                return againstLeaving(job, named);
            }
            if (job.awaitsAdoption()) {
                return Optional.of("job %s runs already, as its owner says, and is not taken over yet".formatted(name));
            }
            if (job.changing().isPresent()) {
                return Optional.of("job %s is being changed by %s"
                        .formatted(name, job.changing().get()));
            }
            Set<GpuId> gained = new HashSet<>(allocation.gpus());
            job.allocation().gpus().forEach(gained::remove);
            Set<GpuId> lost = new HashSet<>(job.allocation().gpus());
            allocation.gpus().forEach(lost::remove);
            Optional<String> taken = allocation.gpus().stream()
                    .filter(gained::contains)
                    .flatMap(gpu -> againstTaking(name, gpu).stream())
                    .findFirst();
            if (taken.isPresent()) {
                return taken;
            }
            Optional<String> refusal = quotas.against(
                            new Tenant.Job(name), gained.stream().sorted().toList())
                    .map(QuotaRefusal::inWords)
                    .or(() -> forbidden(job, allocation.gpus()))
                    .or(() -> new HostRoom(builder)
                            .against(job, allocation.gpus(), gained)
                            .map(HostRefusal::inWords));
            if (refusal.isPresent()) {
                return refusal;
            }
            Optional<AbilityRefusal> unable = unable(gained, allocation.gpus());
            if (unable.isPresent()) {
                return unable.map(AbilityRefusal::text);
            }
            if (!gained.isEmpty() && kinds(allocation.gpus()) > 1) {
                return Optional.of("job %s would have GPUs of several kinds".formatted(name));
            }
            Set<GpuId> changing = new HashSet<>(gained);
            changing.addAll(lost);
            boolean lends = gained.stream().anyMatch(gpu -> builder.gpu(gpu).pool() == Pool.INFERENCE);
            if (lends) {
                changing.removeIf(
                        gpu -> !gained.contains(gpu) || builder.gpu(gpu).pool() != Pool.INFERENCE);
            }
            return changing.equals(new HashSet<>(named))
                    ? Optional.empty()
                    : Optional.of("job %s has other GPUs now".formatted(name));
        }

        /** A job that has ended leaves all GPUs that it has. */
        private Optional<String> againstLeaving(JobState job, List<GpuId> named) {
            List<GpuId> held = job.allocation().gpus();
            return new HashSet<>(held).equals(new HashSet<>(named))
                    ? Optional.empty()
                    : Optional.of("job %s has ended, and %s"
                            .formatted(job.spec().job(), held.isEmpty() ? "has left its GPUs" : "has other GPUs now"));
        }

        private Optional<String> forbidden(JobState job, List<GpuId> gpus) {
            return new ShapeGuard(builder, settings.model().topology()).allows(job, gpus)
                    ? Optional.empty()
                    : Optional.of("the shape of job %s (%s) forbids these GPUs"
                            .formatted(job.spec().job(), job.spec().shape().inWords()));
        }

        @Override
        public Optional<String> serve(Action.Serve serve) {
            Optional<ServiceState> service = builder.services().get(serve.service());
            if (service.isEmpty()) {
                return Optional.of("service %s is unknown".formatted(serve.service()));
            }
            return safety.againstEverything(builder)
                    .or(() -> groups.against(serve))
                    .or(() -> serve.gpus().stream()
                            .flatMap(gpu -> (serve.warm()
                                            ? againstWaking(serve.service(), gpu)
                                            : againstTaking(serve.service(), gpu))
                                    .stream())
                            .findFirst())
                    .or(() -> serve.warm()
                            ? Optional.empty()
                            : quotas.against(new Tenant.Service(serve.service()), serve.gpus())
                                    .map(QuotaRefusal::inWords))
                    .or(() -> serve.gpus().stream()
                            .filter(gpu ->
                                    !service.get().spec().uses(builder.gpu(gpu).kind()))
                            .findFirst()
                            .map(gpu ->
                                    "%s is of a kind that service %s does not declare".formatted(gpu, serve.service())))
                    .or(() -> serve.warm()
                            ? Optional.empty()
                            : units(serve.gpus()).stream()
                                    .flatMap(unit -> abilities.againstReplica(unit).stream())
                                    .findFirst()
                                    .map(AbilityRefusal::text));
        }

        /** A job gets units of a new bundle only if the whole bundle is free. */
        private Optional<AbilityRefusal> unable(Set<GpuId> gained, List<GpuId> after) {
            return abilities.against(gained, after).or(() -> abilities.againstOpening(gained));
        }

        private Optional<String> againstWaking(ServiceId service, GpuId gpu) {
            return stops.isWarm(gpu, service)
                    ? Optional.empty()
                    : Optional.of("%s is not warm for %s".formatted(gpu, service));
        }

        @Override
        public Optional<String> adopt(Action.Adopt adopt) {
            throw new IllegalStateException("the adoption of %s is never advice".formatted(adopt.tenant()));
        }

        @Override
        public Optional<String> idle(Action.Idle idle) {
            Optional<String> awake = idle.gpus().stream()
                    .filter(gpu -> !stops.mayStop(gpu, idle.service()) && !groups.isOver(gpu))
                    .findFirst()
                    .map(gpu -> "%s is not an idle warm replica of %s".formatted(gpu, idle.service()));
            Optional<InferenceService> spec =
                    builder.services().get(idle.service()).map(ServiceState::spec);
            boolean hasGroups = spec.filter(InferenceService::hasGroups).isPresent();
            boolean areAllOver = idle.gpus().stream().allMatch(groups::isOver);
            if (areAllOver) {
                return safety.againstEverything(builder);
            }
            return safety.againstEverything(builder)
                    .or(() -> awake)
                    .or(() -> hasGroups ? groups.underFloor(idle, spec.get()) : stops.underFloor(idle, spec));
        }

        @Override
        public Optional<String> batching(Action.Batching batching) {
            return builder.services().get(batching.service()).isPresent()
                    ? Optional.empty()
                    : Optional.of("service %s is unknown".formatted(batching.service()));
        }

        @Override
        public Optional<String> repartition(Action.Repartition repartition) {
            return Optional.of(
                    "cuts depend on each other and cannot be approved one by one; use 'lendstream advisory off' for them");
        }

        @Override
        public Optional<String> renew(Action.Renew renew) {
            return safety.againstLoans(builder)
                    .or(() -> renew.gpus().stream()
                            .filter(gpu -> builder.gpus()
                                    .get(gpu)
                                    .filter(known -> known.owner().isLent())
                                    .isEmpty())
                            .findFirst()
                            .map(gpu -> "%s is not lent".formatted(gpu)));
        }

        @Override
        public Optional<String> hold(Action.Hold hold) {
            return Optional.of("it is a hold, which changes nothing");
        }
    }

    /** Decides a possible action again, as a binding decision. */
    private final class Again implements Action.Cases<Runnable> {
        private final Decision advice;
        private final Reason reason;

        Again(Decision advice, Reason reason) {
            this.advice = advice;
            this.reason = reason;
        }

        @Override
        public Runnable lend(Action.Lend lend) {
            return () -> change(lend.job(), lend.allocation());
        }

        @Override
        public Runnable reclaim(Action.Reclaim reclaim) {
            return () -> change(reclaim.job(), reclaim.allocation());
        }

        @Override
        public Runnable resize(Action.Resize resize) {
            return () -> change(resize.job(), resize.allocation());
        }

        private void change(JobId job, Allocation allocation) {
            Instant by = builder.now().plus(settings.notice());
            JobState known = builder.jobs().require(job);
            if (known.isRefused()) {
                builder.put(known.unanswered()); // refused before advisory mode, and advice gave it GPUs
            }
            new JobChanges(builder, settings).change(builder.jobs().require(job), allocation.gpus(), by, reason);
        }

        @Override
        public Runnable serve(Action.Serve serve) {
            ServiceState service = builder.services().require(serve.service());
            if (!serve.replicas().isEmpty()) {
                return () -> groups.serve(service, serve, reason);
            }
            return serve.warm()
                    ? () -> new ReplicaChanges(builder, settings).wake(serve.service(), units(serve.gpus()), reason)
                    : () -> new ReplicaChanges(builder, settings).start(service, serve.gpus(), reason);
        }

        @Override
        public Runnable idle(Action.Idle idle) {
            return () -> new ReplicaChanges(builder, settings).stop(idle.service(), idle.gpus(), reason);
        }

        @Override
        public Runnable batching(Action.Batching batching) {
            Duration term = Duration.between(advice.at(), advice.deadline());
            return () -> builder.decide(builder.now().plus(term), reason, batching);
        }

        @Override
        public Runnable repartition(Action.Repartition repartition) {
            throw new IllegalStateException("cuts are never approved");
        }

        @Override
        public Runnable renew(Action.Renew renew) {
            return () -> new Deadlines(builder, settings).renew(renew.gpus(), reason);
        }

        @Override
        public Runnable hold(Action.Hold hold) {
            throw new IllegalStateException("holding is never approved");
        }

        @Override
        public Runnable adopt(Action.Adopt adopt) {
            throw new IllegalStateException("an adoption is never advice");
        }
    }
}
