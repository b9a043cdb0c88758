package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.ClusterIndex;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.DueKey;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.ReplicaGroup;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Acts on deadlines, leases and protection times that have passed. */
final class Deadlines {
    private final StepBuilder builder;
    private final SchedulerSettings settings;

    Deadlines(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
    }

    /**
     * Acts on everything whose time has come.
     *
     * @param decides whether decisions are made; otherwise a unit that is not bound in time is quarantined, because its
     *     bind cannot be undone
     */
    void expire(boolean decides) {
        Map<JobId, List<GpuId>> unbound = new TreeMap<>();
        Map<ReplicaId, GpuId> unboundGroups = new TreeMap<>();
        TreeSet<GpuId> due = new TreeSet<>(until(builder.clusterIndex().gpus().owed(), builder.now()));
        due.addAll(until(builder.clusterIndex().gpus().loans(), builder.now().minus(settings.notice())));
        for (GpuId id : due) {
            GpuState gpu = builder.gpu(id);
            if (!AdoptionFailure.hasUndone(gpu, settings.model().users())) {
                gpu.owner()
                        .match(new Expiry(gpu, decides, unbound, unboundGroups))
                        .run();
            }
        }
        unbound.forEach(this::undo);
        unboundGroups
                .values()
                .forEach(unit -> ReplicaGroup.of(builder.clusterIndex(), builder.gpu(unit))
                        .ifPresent(new GroupChanges(builder, settings)::giveUp));
        for (JobId job : until(builder.clusterIndex().jobs().changing(), builder.now())) {
            builder.invalidatePlan();
            builder.put(builder.jobs().require(job).settled(Optional.empty()));
        }
        ApplicationMemory memory = new ApplicationMemory(builder, settings);
        Instant forgotten = builder.now().minus(JobPhase.KNOWN_WHEN_OVER).minusMillis(1);
        for (JobId job : until(builder.clusterIndex().jobs().past(), forgotten)) {
            memory.keep(builder.jobs().require(job));
            builder.remove(job);
        }
        memory.expire();
        new ProgramWaits(builder).end();
    }

    /** The keys due at a time, soonest first. */
    static <K extends Comparable<K>> List<K> until(PersistentMap<DueKey<K>, K> clusterIndex, Instant time) {
        List<K> due = new ArrayList<>();
        Optional<DueKey<K>> first = clusterIndex.firstKey();
        if (first.isPresent() && !first.get().at().isAfter(time)) {
            for (Map.Entry<DueKey<K>, K> entry : clusterIndex) {
                if (entry.getKey().at().isAfter(time)) {
                    break;
                }
                due.add(entry.getValue());
            }
        }
        return due;
    }

    /** Renews loans that stay, or takes back loans that must end. */
    void keepLeases() {
        Safety safety = new Safety(settings);
        Optional<String> back = safety.againstKeepingLoans(builder);
        if (back.isPresent()) {
            List<GpuId> lent = lent(Duration.ofDays(365));
            new JobChanges(builder, settings)
                    .takeBack(
                            lent,
                            returned -> builder.because(
                                    ReasonCode.SAFETY,
                                    returned.inWords() + ": " + back.get(),
                                    returned.numbers(Map.of()),
                                    Safety.inputs(builder)));
            return;
        }
        new TrustReturns(builder, settings).takeBackExcess();
        if (lent(settings.lease().dividedBy(2)).isEmpty()) {
            return;
        }
        Optional<String> veto = safety.againstLoans(builder).or(() -> safety.againstChanges(builder));
        if (veto.isPresent()) {
            new JobChanges(builder, settings)
                    .takeBack(
                            lent(settings.notice()),
                            returned -> builder.because(
                                    ReasonCode.LEASE,
                                    "%s: its lease ends and is not renewed, because %s"
                                            .formatted(returned.inWords(), veto.get()),
                                    returned.numbers(Map.of()),
                                    Safety.inputs(builder)));
            return;
        }
        renewAll(lent(settings.lease().multipliedBy(3).dividedBy(4)));
    }

    /** Renews loans of which at least a quarter of the term is over. */
    void renewAll(List<GpuId> ending) {
        renew(
                ending,
                builder.because(
                        ReasonCode.LEASE,
                        "%s renewed until %s"
                                .formatted(
                                        ending.size() == 1 ? "1 loan is" : ending.size() + " loans are",
                                        Wording.time(builder.now().plus(settings.lease()))),
                        Map.of("loans", (double) ending.size()),
                        List.of()));
    }

    /** Lets loans go on for another term. */
    void renew(List<GpuId> gpus, Reason reason) {
        Instant until = builder.now().plus(settings.lease());
        builder.decide(until, reason, new Action.Renew(gpus, until, jobs(gpus)));
        for (GpuId gpu : gpus) {
            builder.gpu(gpu)
                    .owner()
                    .asLent()
                    .ifPresent(lent -> builder.extend(gpu, new Owner.Lent(lent.job(), lent.decision(), until)));
        }
    }

    /** The jobs of lent GPUs, where an actuator needs them to find the units. */
    private List<JobId> jobs(List<GpuId> lent) {
        return builder.entities().scopes().hasSlots()
                ? GpuId.sorted(lent).stream()
                        .flatMap(gpu -> builder.gpu(gpu).owner().holdingJob().stream())
                        .toList()
                : List.of();
    }

    /** Lent GPUs whose lease ends within a time. */
    List<GpuId> lent(Duration within) {
        return until(builder.clusterIndex().gpus().loans(), builder.now().plus(within)).stream()
                .sorted()
                .toList();
    }

    private void undo(JobId name, List<GpuId> gpus) {
        builder.invalidatePlan();
        Optional<JobState> job = builder.jobs().get(name);
        if (job.isEmpty()) {
            gpus.forEach(gpu -> quarantine(builder.gpu(gpu), "its bind failed: job %s is unknown".formatted(name)));
            return;
        }
        List<GpuId> missing = missing(name, gpus);
        List<GpuId> rest = job.get().allocation().gpus().stream()
                .filter(gpu -> !gpus.contains(gpu))
                .toList();
        List<GpuId> kept = new JobChanges(builder, settings).rest(job.get(), rest);
        JobChanges.Returned returned = JobChanges.Returned.of(job.get(), kept);
        String text = "%s: no actuator reported %s as bound within %d s%s"
                .formatted(
                        returned.inWords(),
                        Reason.counted(missing.size(), returned.unit()),
                        settings.bindDeadline().toSeconds(),
                        job.get().spec().shape().gang() ? ", and a gang gets its GPUs together" : "");
        Map<String, Double> numbers = returned.numbers(Map.of("unbound", (double) missing.size()));
        new JobChanges(builder, settings)
                .change(
                        job.get(),
                        kept,
                        builder.now().plus(settings.notice()),
                        builder.because(
                                ReasonCode.TIMEOUT,
                                text,
                                numbers,
                                List.of(job.get().lastEvent())));
    }

    /** The units that were not bound to a job in time. Those of a gang that were are given back with the others. */
    private List<GpuId> missing(JobId job, List<GpuId> due) {
        List<GpuId> missing = new ArrayList<>();
        List<GpuState> ofGang = new ArrayList<>();
        for (GpuId id : due) {
            GpuState unit = builder.gpu(id);
            if (unit.part().isPresent()) {
                ofGang.add(unit);
            } else {
                missing.add(id);
            }
        }
        missing.addAll(new MissedBinds(builder, settings.model().users()).count(ofGang, "job " + job));
        return missing;
    }

    private void giveUp(GpuState gpu, ServiceId service) {
        int failures = gpu.failedBinds() + 1;
        builder.put(gpu.withFailedBinds(failures));
        if (failures >= 2) {
            builder.own(
                    gpu.gpuId(),
                    settings.model()
                            .users()
                            .quarantine("a replica of %s did not start on it, twice in a row".formatted(service)));
            return;
        }
        new ReplicaChanges(builder, settings)
                .stop(
                        service,
                        List.of(gpu.gpuId()),
                        builder.because(
                                ReasonCode.TIMEOUT,
                                "%s stops its replica on %s: it did not start %s, so another GPU is tried"
                                        .formatted(service, gpu.gpuId(), new BindTime(settings).inWords()),
                                Map.of(),
                                List.of(gpu.changedBy())));
    }

    private void quarantine(GpuState gpu, String why) {
        builder.own(gpu.gpuId(), settings.model().users().quarantine(why));
    }

    /** When something next happens by itself in a state; empty when nothing will. */
    static Optional<Instant> next(ClusterState state, SchedulerSettings settings) {
        return earlier(earlier(state.nextPlanAt(), nextCuts(state, settings)), nextOfOwners(state, settings));
    }

    /** When the next deadline, lease or bound of silence is over; empty when there is none. */
    static Optional<Instant> nextOfOwners(ClusterState state, SchedulerSettings settings) {
        ClusterIndex clusterIndex = state.clusterIndex();
        Optional<Instant> soon = earlier(
                clusterIndex.gpus().owed().firstKey().map(DueKey::at),
                clusterIndex.jobs().changing().firstKey().map(DueKey::at));
        soon = earlier(soon, clusterIndex.jobs().faulty().firstKey().map(DueKey::at));
        soon = earlier(soon, clusterIndex.faulty().firstKey().map(DueKey::at));
        if (!state.promises().isEmpty()) {
            soon = earlier(soon, state.promises().stream().map(Promise::until).min(Instant::compareTo));
        }
        return clusterIndex.gpus().loans().isEmpty() ? soon : earlier(soon, nextOfLoans(state, settings));
    }

    private static Optional<Instant> nextCuts(ClusterState state, SchedulerSettings settings) {
        return state.slices()
                .filter(plan -> settings.repartition())
                .map(plan -> plan.at().plus(settings.repartitionEvery()))
                .filter(state.now()::isBefore);
    }

    private static Optional<Instant> nextOfLoans(ClusterState state, SchedulerSettings settings) {
        ClusterIndex clusterIndex = state.clusterIndex();
        long renewal = renewalMillis(settings);
        Optional<Instant> renewed =
                end(clusterIndex, state.now().plusMillis(renewal)).map(end -> end.minusMillis(renewal));
        Optional<Instant> warned =
                end(clusterIndex, state.now().plus(settings.notice())).map(end -> end.minus(settings.notice()));
        Optional<Instant> over =
                clusterIndex.gpus().loans().firstKey().map(first -> first.at().plus(settings.notice()));
        return earlier(earlier(renewed, warned), earlier(over, Safety.nextChange(clusterIndex, state.now())));
    }

    /** Asked after every event, and so without a stream. */
    private static Optional<Instant> earlier(Optional<Instant> one, Optional<Instant> other) {
        return other.isEmpty() || (one.isPresent() && !one.get().isAfter(other.get())) ? one : other;
    }

    /** The end of the first lease that ends after a time. */
    private static Optional<Instant> end(ClusterIndex clusterIndex, Instant after) {
        return clusterIndex
                .gpus()
                .loans()
                .firstKey(loan -> loan.at().isAfter(after))
                .map(DueKey::at);
    }

    /** How long before its end a lease is renewed. {@link java.time.Duration#dividedBy} reckons with big decimals. */
    private static long renewalMillis(SchedulerSettings settings) {
        return settings.lease().toMillis() / 2;
    }

    /** What becomes of a unit whose time has come. */
    private final class Expiry implements Owner.Cases<Runnable> {
        private final GpuState gpu;
        private final boolean decides;
        private final Map<JobId, List<GpuId>> unbound;
        private final Map<ReplicaId, GpuId> unboundGroups;

        /**
         * @param unbound takes the units that were not bound to a job in time, by job
         * @param unboundGroups takes a unit of each replica of several units that is not whole in time
         */
        Expiry(GpuState gpu, boolean decides, Map<JobId, List<GpuId>> unbound, Map<ReplicaId, GpuId> unboundGroups) {
            this.gpu = gpu;
            this.decides = decides;
            this.unbound = unbound;
            this.unboundGroups = unboundGroups;
        }

        @Override
        public Runnable free(Owner.Free free) {
            return () -> {};
        }

        @Override
        public Runnable binding(Owner.Binding binding) {
            if (binding.isAdoption()) {
                return () -> new AdoptionFailure(builder).undo(gpu, binding);
            }
            if (!decides) {
                return quarantined("no actuator reported it as bound in time", binding.decision());
            }
            return binding.tenant()
                    .match(Tenant.Cases.of(
                            job -> () -> unbound.computeIfAbsent(job.job(), name -> new ArrayList<>())
                                    .add(gpu.gpuId()),
                            service -> () -> gpu.part()
                                    .ifPresentOrElse(
                                            part -> unboundGroups.put(part.replica(), gpu.gpuId()),
                                            () -> giveUp(gpu, service.service()))));
        }

        @Override
        public Runnable lent(Owner.Lent lent) {
            return quarantined("its lease ended and no actuator reported its return", lent.decision());
        }

        @Override
        public Runnable training(Owner.Training training) {
            return () -> {};
        }

        @Override
        public Runnable serving(Owner.Serving serving) {
            return () -> {};
        }

        @Override
        public Runnable protectedReplica(Owner.Protected replica) {
            return () -> builder.own(gpu.gpuId(), new Owner.Sleeping(replica.service()));
        }

        @Override
        public Runnable sleeping(Owner.Sleeping sleeping) {
            return () -> {};
        }

        @Override
        public Runnable releasing(Owner.Releasing releasing) {
            return quarantined("its release was not reported within twice the notice", releasing.decision());
        }

        @Override
        public Runnable recutting(Owner.Recutting recutting) {
            return () -> builder.own(
                    gpu.gpuId(),
                    new Owner.Quarantined("its GPU was not cut in time (%s)".formatted(recutting.decision())));
        }

        @Override
        public Runnable quarantined(Owner.Quarantined quarantined) {
            return () -> quarantined
                    .foreign()
                    .ifPresentOrElse(
                            use -> UserSamples.end(builder, settings.model().users(), gpu, use),
                            () -> new QuarantineEvidence(
                                            builder, settings.model().users())
                                    .end(gpu));
        }

        private Runnable quarantined(String why, DecisionId decision) {
            return () -> quarantine(gpu, "%s (%s)".formatted(why, decision));
        }
    }
}
