package io.lendstream.simulator;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** An inference service at work: its replicas, and the windows by which it reports its requests. */
abstract class ServiceRun {
    private final InferenceService declared;
    private final InferenceService service;
    private final WorldSettings settings;
    private final GpuPlaces places;
    private final TreeMap<GpuId, Instant> warming = new TreeMap<>();
    private final TreeSet<GpuId> available = new TreeSet<>();
    private final TreeSet<GpuId> leaving = new TreeSet<>();
    /** Replicas that take no requests until they are awake, and the times at which some of them will be. */
    private final TreeSet<GpuId> sleeping = new TreeSet<>();

    private final TreeMap<GpuId, Instant> waking = new TreeMap<>();
    /** The replicas of several GPUs, by each of their GPUs; their first GPU stands for them in the sets above. */
    private final Map<GpuId, ReplicaUnits> groups = new TreeMap<>();
    /** GPUs of such replicas that are bound. */
    private final Set<GpuId> parts = new TreeSet<>();

    private long sequence;
    private Instant reportedTo;
    /** Requests per second of replicas that are not alike. */
    private double mixedPerSecond;
    /** Whether a replica takes requests on a MIG instance. */
    private boolean usesInstances;

    ServiceRun(InferenceService service, WorldSettings settings, GpuPlaces places, Instant start) {
        this.declared = service;
        this.service = service.plain();
        this.settings = settings;
        this.places = places;
        this.reportedTo = start;
    }

    /** The service as its owner declares it. */
    final InferenceService declared() {
        return declared;
    }

    /** The service as it is planned. */
    final InferenceService service() {
        return service;
    }

    /** Replicas that take requests. */
    final int replicas() {
        return available.size();
    }

    /** The GPUs of replicas that take requests; of a replica of several GPUs the first one. */
    final SortedSet<GpuId> available() {
        return available;
    }

    /** Whether a replica runs there, also one that takes no new requests. */
    final boolean isUp(GpuId gpu) {
        return available.contains(gpu) || leaving.contains(gpu) || sleeping.contains(gpu);
    }

    /** Requests per second that the replicas which take requests answer; of the role that answers least. */
    final double capacityPerSecond() {
        return areAlike() ? replicas() * service.replicaCapacityPerSecond() : mixedPerSecond;
    }

    /** Whether all its replicas answer the same. */
    final boolean areAlike() {
        return service.takesKindsAsAlike() && !service.hasGroups() && !usesInstances;
    }

    /** Requests per second of one replica on a whole GPU; the mean if they are not alike. */
    final double replicaPerSecond() {
        return areAlike() || available.isEmpty() || mixedPerSecond == 0
                ? service.replicaCapacityPerSecond()
                : mixedPerSecond / places.gpus(available);
    }

    /** How much faster a replica is there than its service declares for a replica. */
    final double speed(GpuId gpu) {
        Optional<KindId> kind = Optional.ofNullable(places.kinds().get(gpu));
        double declared = service.replicaCapacityPerSecond();
        Optional<ReplicaShape> shape = Optional.ofNullable(groups.get(gpu))
                .flatMap(replica -> service.hardware().named(replica.shape()));
        if (shape.isPresent()) {
            return shape.get().likelyCapacityOn(kind, declared) / declared;
        }
        return places.share(gpu) * service.likelyCapacityOn(kind) / declared;
    }

    private void sumUp() {
        usesInstances = places.gpus(available) < available.size();
        if (areAlike()) {
            return;
        }
        if (service.hardware().hasRoles()) {
            mixedPerSecond = leastRole();
            return;
        }
        mixedPerSecond = 0;
        for (GpuId gpu : available) {
            mixedPerSecond += speed(gpu) * service.replicaCapacityPerSecond();
        }
    }

    /** Requests per second of the role that answers least: each request needs all roles. */
    private double leastRole() {
        Map<ReplicaRole, Double> byRole = new EnumMap<>(ReplicaRole.class);
        service.hardware().roles().forEach(role -> byRole.put(role, 0.0));
        for (GpuId gpu : available) {
            ReplicaUnits replica = groups.get(gpu);
            if (replica != null) {
                double perSecond = speed(gpu) * service.replicaCapacityPerSecond();
                byRole.computeIfPresent(replica.role(), (role, sum) -> sum + perSecond);
            }
        }
        return byRole.values().stream().mapToDouble(each -> each).min().orElse(0);
    }

    /** Replicas that only answer what they have begun. */
    final int leavingReplicas() {
        return leaving.size() + sleeping.size();
    }

    /** Replicas on their way up. */
    final int warmingReplicas() {
        return warming.size() + waking.size();
    }

    /** Replicas of several GPUs are about to start. */
    final void join(Collection<ReplicaUnits> replicas) {
        for (ReplicaUnits replica : replicas) {
            for (GpuId gpu : replica.units()) {
                if (!replica.equals(groups.put(gpu, replica))) {
                    parts.remove(gpu); // that one was bound in another replica
                }
            }
        }
    }

    /** The GPU that stands for the replica on a GPU; itself where that one is gone, or has another replica since. */
    private GpuId first(GpuId gpu) {
        ReplicaUnits replica = groups.get(gpu);
        if (replica == null) {
            return gpu;
        }
        GpuId first = replica.units().get(0);
        return replica.equals(groups.get(first)) ? first : gpu;
    }

    /** Replicas are on their way up. */
    final void warming(Collection<GpuId> gpus, Instant at) {
        for (GpuId each : gpus) {
            GpuId gpu = first(each);
            if (!available.contains(gpu) && warming.putIfAbsent(gpu, at) == null) {
                begins(at);
            }
        }
    }

    /** Replicas came up. One of several GPUs is up once all of them are bound. */
    final void bound(Collection<GpuId> gpus, Instant at) {
        for (GpuId each : gpus) {
            ReplicaUnits replica = groups.get(each);
            if (replica != null) {
                parts.add(each);
            }
            if (replica == null || parts.containsAll(replica.units())) {
                up(first(each), at);
            }
        }
    }

    private void up(GpuId gpu, Instant at) {
        Instant begun = Optional.ofNullable(warming.remove(gpu)).orElse(at);
        leaving.remove(gpu);
        if (!available.contains(gpu)) {
            beforeChange(at);
            available.add(gpu);
            sumUp();
            cameUp(begun, at);
        }
    }

    /** How long a replica takes to wake; empty if it answers at once. */
    private Optional<Duration> wakeTime(GpuId gpu) {
        Optional<StartTimes> starts = Optional.ofNullable(groups.get(gpu))
                .map(replica -> service.hardware().named(replica.shape()).map(ReplicaShape::starts))
                .orElseGet(declared::singleStarts);
        return starts.flatMap(StartTimes::asleep).filter(time -> !time.isZero());
    }

    /** A replica sleeps from now on, if it takes time to wake; else it goes on to take requests. */
    final void sleep(GpuId each, Instant at) {
        GpuId gpu = first(each);
        if (waking.remove(gpu) != null) {
            wentAway(at);
        } else if (available.contains(gpu) && wakeTime(gpu).isPresent()) {
            beforeChange(at);
            available.remove(gpu);
            sleeping.add(gpu);
            sumUp();
        }
    }

    /** Replicas are to take requests again: at once, or when they are awake. */
    final void wake(Collection<GpuId> gpus, Instant at) {
        for (GpuId each : gpus) {
            GpuId gpu = first(each);
            if (sleeping.contains(gpu) && !waking.containsKey(gpu)) {
                waking.put(gpu, at.plus(wakeTime(gpu).orElse(Duration.ZERO)));
                begins(at);
            }
        }
    }

    private void awake(GpuId gpu, Instant at) {
        waking.remove(gpu);
        sleeping.remove(gpu);
        beforeChange(at);
        available.add(gpu);
        sumUp();
        woke(at.minus(wakeTime(gpu).orElse(Duration.ZERO)), at);
    }

    /** The next replica that is awake, up to a time. */
    private Optional<GpuId> nextAwake(Instant to) {
        return waking.entrySet().stream()
                .filter(each -> !each.getValue().isAfter(to))
                .min(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey);
    }

    /** When something happens next. */
    final Instant nextEventAt() {
        Instant next = nextAt();
        for (Instant at : waking.values()) {
            next = at.isBefore(next) ? at : next;
        }
        return next;
    }

    /** Goes on until a time, with the replicas that are awake by then, and says what there is to say meanwhile. */
    final void goOn(Instant to, Consumer<RequestRate> said) {
        for (Optional<GpuId> next = nextAwake(to); next.isPresent(); next = nextAwake(to)) {
            Instant at = Objects.requireNonNull(waking.get(next.get()));
            advanceTo(at, said);
            awake(next.get(), at);
        }
        advanceTo(to, said);
    }

    /** Replicas take no new requests any more. */
    final void leaving(Collection<GpuId> gpus, Instant at) {
        beforeChange(at);
        for (GpuId each : gpus) {
            GpuId gpu = first(each);
            waking.remove(gpu);
            if (available.remove(gpu)) {
                leaving.add(gpu);
            }
        }
        sumUp();
    }

    /** Replicas are gone. One of several GPUs is gone as soon as one of them is. */
    final void gone(Collection<GpuId> gpus, Instant at) {
        beforeChange(at);
        for (GpuId each : gpus) {
            GpuId gpu = first(each);
            warming.remove(gpu);
            available.remove(gpu);
            leaving.remove(gpu);
            sleeping.remove(gpu);
            waking.remove(gpu);
        }
        sumUp();
        gpus.forEach(groups::remove);
        gpus.forEach(parts::remove);
        wentAway(at);
    }

    /** Its replicas have GPUs of other names from now on. */
    final void rename(UnaryOperator<GpuId> names) {
        rename(warming, names);
        rename(waking, names);
        rename(available, names);
        rename(leaving, names);
        rename(sleeping, names);
        renamed(names);
    }

    private static void rename(Map<GpuId, Instant> times, UnaryOperator<GpuId> names) {
        Map<GpuId, Instant> renamed = new TreeMap<>();
        times.forEach((gpu, at) -> renamed.put(names.apply(gpu), at));
        times.clear();
        times.putAll(renamed);
    }

    private static void rename(Set<GpuId> gpus, UnaryOperator<GpuId> names) {
        List<GpuId> renamed = gpus.stream().map(names).toList();
        gpus.clear();
        gpus.addAll(renamed);
    }

    /** Replicas have GPUs of other names. */
    abstract void renamed(UnaryOperator<GpuId> names);

    /** What happens until then happens with the replicas there have been so far. */
    abstract void beforeChange(Instant at);

    /** A replica has its GPU and is on its way up. */
    abstract void begins(Instant at);

    /**
     * A replica takes requests from now on.
     *
     * @param begun when it had its GPU
     */
    abstract void cameUp(Instant begun, Instant at);

    /**
     * A replica that was asleep takes requests from now on.
     *
     * @param begun when it began to wake
     */
    abstract void woke(Instant begun, Instant at);

    abstract void wentAway(Instant at);

    abstract Instant nextAt();

    /** Goes on until a time and says what there is to say meanwhile. */
    abstract void advanceTo(Instant to, Consumer<RequestRate> said);

    abstract boolean isIdle();

    abstract ServiceResult result();

    /** Single requests answered so far; none where only rates are known. */
    abstract List<RequestResult> requests();

    final Instant reportedTo() {
        return reportedTo;
    }

    /** The next time at which all services report. */
    final Instant windowEnd() {
        long window = settings.window().toMillis();
        return Instant.ofEpochMilli((Math.floorDiv(reportedTo.toEpochMilli(), window) + 1) * window);
    }

    final RequestRate report(
            Instant at, long arrivals, long completions, int inFlight, int queueDepth, Distribution latencySeconds) {
        Instant from = reportedTo;
        reportedTo = at;
        boolean any = latencySeconds.count() > 0;
        return new RequestRate(
                service.service(),
                service.domain(),
                settings.source(),
                "world-" + settings.seed(),
                ++sequence,
                from,
                at,
                new RequestRate.Requests(arrivals, completions, inFlight, queueDepth),
                any
                        ? new RequestRate.Latency(
                                Optional.of(latencySeconds.quantile(.5)), Optional.of(latencySeconds.quantile(.99)))
                        : RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
