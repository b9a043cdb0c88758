package io.lendstream.core.scheduler;

import io.lendstream.core.cluster.ClusterState;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.JobState;
import io.lendstream.core.cluster.Owner;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What time does to owners: deadlines, leases, protection. */
final class Deadlines {
    /** How long a job that is over is remembered, so that a late record does not bring it back. */
    private static final Duration MEMORY_OF_JOBS = Duration.ofHours(24);

    private final Draft draft;
    private final SchedulerSettings settings;

    Deadlines(Draft draft, SchedulerSettings settings) {
        this.draft = draft;
        this.settings = settings;
    }

    /** Acts on everything whose time has come. */
    void expire() {
        Map<JobId, List<GpuId>> unbound = new TreeMap<>();
        for (GpuState gpu : draft.gpus().values()) {
            Owner owner = gpu.owner();
            if (owner instanceof Owner.Protected warm && !warm.until().isAfter(draft.now())) {
                draft.own(gpu.gpuId(), new Owner.Sleeping(warm.service()));
            } else if (owner instanceof Owner.Releasing releasing
                    && !releasing.alarmAt().isAfter(draft.now())) {
                quarantine(
                        gpu,
                        "its release was not reported within twice the notice (%s)".formatted(releasing.decision()));
            } else if (owner instanceof Owner.Lent lent && !alarm(lent).isAfter(draft.now())) {
                quarantine(gpu, "its lease ran out and its return was not reported (%s)".formatted(lent.decision()));
            } else if (owner instanceof Owner.Binding binding
                    && !binding.deadline().isAfter(draft.now())) {
                if (binding.tenant() instanceof Tenant.Job job) {
                    unbound.computeIfAbsent(job.job(), name -> new ArrayList<>())
                            .add(gpu.gpuId());
                } else {
                    giveUp(gpu, binding);
                }
            }
        }
        unbound.forEach(this::undo);
        for (JobState job : draft.jobs().values()) {
            if (job.changing().isPresent() && !job.changeDeadline().isAfter(draft.now())) {
                draft.put(job.settled());
            }
            if (job.isOver()
                    && job.gpus() == 0
                    && job.lastProgressAt()
                            .filter(last -> last.plus(MEMORY_OF_JOBS).isBefore(draft.now()))
                            .isPresent()) {
                draft.remove(job.spec().job());
            }
        }
    }

    /** Renews loans that are to stay, or takes back those that must not. */
    void keepLeases() {
        Safety safety = new Safety(settings);
        Optional<String> back = safety.againstKeepingLoans(draft);
        if (back.isPresent()) {
            List<GpuId> lent = lent(Duration.ofDays(365));
            Inference.takeBack(
                    draft,
                    settings,
                    lent,
                    job -> draft.because(
                            "safety",
                            "job %s gives all loans back: %s".formatted(job, back.get()),
                            Map.of(),
                            Safety.inputs(draft)));
            return;
        }
        if (lent(settings.lease().dividedBy(2)).isEmpty()) {
            return;
        }
        Optional<String> veto = safety.againstLoans(draft).or(() -> safety.againstChanges(draft));
        if (veto.isPresent()) {
            Inference.takeBack(
                    draft,
                    settings,
                    lent(settings.notice()),
                    job -> draft.because(
                            "lease",
                            "the lease of job %s ends and is not renewed: %s".formatted(job, veto.get()),
                            Map.of(),
                            Safety.inputs(draft)));
            return;
        }
        renew(lent(settings.lease().multipliedBy(3).dividedBy(4)));
    }

    private void renew(List<GpuId> gpus) {
        Instant until = draft.now().plus(settings.lease());
        draft.decide(
                until,
                draft.because(
                        "lease",
                        "%s on until %s".formatted(gpus.size() == 1 ? "1 loan goes" : gpus.size() + " loans go", until),
                        Map.of("loans", (double) gpus.size()),
                        List.of()),
                new Action.Renew(gpus, until));
        for (GpuId gpu : gpus) {
            if (draft.gpu(gpu).owner() instanceof Owner.Lent lent) {
                draft.extend(gpu, new Owner.Lent(lent.job(), lent.decision(), until));
            }
        }
    }

    /** Lent GPUs whose lease ends within a time. */
    private List<GpuId> lent(Duration within) {
        Instant horizon = draft.now().plus(within);
        return draft.gpus().stream()
                .filter(gpu ->
                        gpu.owner() instanceof Owner.Lent lent && !lent.until().isAfter(horizon))
                .map(GpuState::gpuId)
                .toList();
    }

    private void undo(JobId name, List<GpuId> gpus) {
        Optional<JobState> job = draft.jobs().get(name);
        if (job.isEmpty()) {
            gpus.forEach(gpu -> quarantine(draft.gpu(gpu), "it was being bound to an unknown job " + name));
            return;
        }
        List<GpuId> rest = job.get().allocation().gpus().stream()
                .filter(gpu -> !gpus.contains(gpu))
                .toList();
        boolean goesOn = rest.size() >= job.get().spec().minGpus();
        new JobChanges(draft, settings)
                .change(
                        job.get(),
                        goesOn ? rest : List.of(),
                        draft.now().plus(settings.notice()),
                        draft.because(
                                "timeout",
                                "%s of job %s %s not reported bound within %d s: undone"
                                        .formatted(
                                                Reason.counted(gpus.size(), "GPU"),
                                                name,
                                                gpus.size() == 1 ? "was" : "were",
                                                settings.bindDeadline().toSeconds()),
                                Map.of(),
                                List.of(job.get().lastEvent())));
    }

    private void giveUp(GpuState gpu, Owner.Binding binding) {
        Tenant.Service service = (Tenant.Service) binding.tenant();
        int failures = gpu.failedBinds() + 1;
        draft.put(gpu.withFailedBinds(failures));
        if (failures >= 2) {
            draft.own(
                    gpu.gpuId(),
                    new Owner.Quarantined(
                            "a replica of %s did not come up on it, twice in a row".formatted(service.service())));
            return;
        }
        Inference.stop(
                draft,
                settings,
                service.service(),
                List.of(gpu.gpuId()),
                draft.because(
                        "timeout",
                        "the replica of %s on %s did not come up within twice its warm-up: another GPU is tried"
                                .formatted(service.service(), gpu.gpuId()),
                        Map.of(),
                        List.of(gpu.changedBy())));
    }

    private void quarantine(GpuState gpu, String why) {
        draft.own(gpu.gpuId(), new Owner.Quarantined(why));
    }

    private Instant alarm(Owner.Lent lent) {
        return lent.until().plus(settings.notice());
    }

    /** When something next happens by itself in a state; empty when nothing will. */
    static Optional<Instant> next(ClusterState state, SchedulerSettings settings) {
        Instant next = state.nextPlanAt().orElse(Instant.MAX);
        boolean loans = false;
        for (GpuState gpu : state.gpus().values()) {
            Owner owner = gpu.owner();
            Instant at = Instant.MAX;
            if (owner instanceof Owner.Protected warm) {
                at = warm.until();
            } else if (owner instanceof Owner.Releasing releasing) {
                at = releasing.alarmAt();
            } else if (owner instanceof Owner.Binding binding) {
                at = binding.deadline();
            } else if (owner instanceof Owner.Lent lent) {
                loans = true;
                at = nextOf(lent, state.now(), settings);
            }
            next = at.isBefore(next) ? at : next;
        }
        for (JobState job : state.jobs().values()) {
            if (job.changing().isPresent() && job.changeDeadline().isBefore(next)) {
                next = job.changeDeadline();
            }
        }
        if (loans) {
            Optional<Instant> stale =
                    new Safety(settings).nextChange(state.services().values(), state.now());
            if (stale.isPresent() && stale.get().isBefore(next)) {
                next = stale.get();
            }
        }
        return next.equals(Instant.MAX) ? Optional.empty() : Optional.of(next);
    }

    /** In milliseconds, for {@link Duration#dividedBy} reckons with big decimals, and this is asked of every loan. */
    private static Instant nextOf(Owner.Lent lent, Instant now, SchedulerSettings settings) {
        Instant renewal = lent.until().minusMillis(settings.lease().toMillis() / 2);
        if (renewal.isAfter(now)) {
            return renewal;
        }
        Instant lastCall = lent.until().minus(settings.notice());
        return lastCall.isAfter(now) ? lastCall : lent.until().plus(settings.notice());
    }
}
