package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Frees quota for floors of services: if training GPUs of the jobs of a queue use its limit, jobs of the queue give
 * GPUs back, those of the lowest priority first. The free GPUs of inference are promised to the services meanwhile.
 * Loans of the queue are taken back before, see {@link ReplicaSupply}.
 */
final class FloorAsks {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final QuotaGuard guard;
    private final InferencePool pool;

    FloorAsks(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.guard = new QuotaGuard(builder);
        this.pool = new InferencePool(builder);
    }

    void run() {
        if (builder.slices().isPresent()) {
            return;
        }
        for (ServiceState service : builder.services().values()) {
            ServiceId name = service.spec().service();
            int floor = guard.lacking(name);
            int lacking = floor > 0 ? floor - builder.promises().units(name).size() : 0;
            if (lacking > 0 && !pool.isHeldBack(service)) {
                builder.entities().queueOf(new Tenant.Service(name)).ifPresent(queue -> ask(service, queue, lacking));
            }
        }
    }

    private void ask(ServiceState service, ClusterQueue queue, int lacking) {
        QueueLedger kept = guard.kept();
        Map<Optional<KindId>, List<GpuState>> byQuota = new LinkedHashMap<>();
        Iterator<GpuState> free = pool.free();
        int left = lacking;
        while (left > 0 && free.hasNext()) {
            GpuState unit = free.next();
            Optional<QuotaUse> use = kept.use(queue.queue(), unit.kind());
            boolean isOpen = unit.isWhole()
                    && pool.fits(service, unit)
                    && !builder.promises().has(unit.gpuId());
            if (isOpen && use.isPresent()) {
                byQuota.computeIfAbsent(use.get().kind(), any -> new ArrayList<>())
                        .add(unit);
                left--;
            }
        }
        byQuota.forEach((kind, units) -> free(service, queue, units));
    }

    /**
     * Frees quota for units of one quota, and promises them to a service; fewer if jobs cannot give enough.
     *
     * @param units free GPUs
     */
    private void free(ServiceState service, ClusterQueue queue, List<GpuState> units) {
        QueueLedger kept = guard.kept();
        Optional<KindId> kind = units.get(0).kind();
        QuotaUse use = kept.use(queue.queue(), kind).orElseThrow();
        int over = (int) Math.ceil(use.used() + units.size() - use.limit() - ROUNDING);
        if (over <= 0) {
            return; // there is room, or will be as soon as releases are reported
        }
        QuotaVictims victims = new QuotaVictims(
                builder,
                settings,
                kept,
                new QuotaVictims.Wanted(
                        Integer.MAX_VALUE,
                        queue.preempting(Preemption.LOWER_PRIORITY, Preemption.NEVER),
                        kind,
                        unit -> unit.pool() == Pool.TRAINING && kept.counts(unit.gpuId(), queue.queue(), kind)));
        int given = victims.take(true, over);
        int gained = units.size() - Math.max(0, over - given);
        if (given <= 0 || gained <= 0) {
            return;
        }
        Instant by = builder.now().plus(settings.notice());
        for (QuotaVictims.Loss loss : victims.losses()) {
            new JobChanges(builder, settings).change(loss.job(), loss.left(), by, reason(service, queue, use, loss));
        }
        builder.invalidatePlan();
        Tenant tenant = new Tenant.Service(service.spec().service());
        for (GpuState unit : units.subList(0, gained)) {
            builder.promises().add(unit.gpuId(), tenant, new ReplicaChanges(builder, settings).promisedUntil());
        }
    }

    private Reason reason(ServiceState service, ClusterQueue queue, QuotaUse use, QuotaVictims.Loss loss) {
        ServiceId name = service.spec().service();
        int floor = service.spec().floorReplicas();
        JobChanges.Returned returned = JobChanges.Returned.of(loss.job(), loss.left());
        Map<String, Double> numbers = returned.numbers(Map.of(
                "floor",
                (double) floor,
                "lacking",
                (double) guard.lacking(name),
                "nominal",
                use.nominal(),
                "used",
                use.used()));
        return builder.because(
                ReasonCode.QUOTA,
                "%s: %s of queue %s lacks %s to its floor of %d, and its queue uses %s"
                        .formatted(
                                returned.inWords(),
                                name,
                                queue.queue(),
                                Reason.counted(guard.lacking(name), "replica"),
                                floor,
                                use.inWords()),
                numbers,
                List.of(loss.job().lastEvent(), service.demand().event()));
    }
}
