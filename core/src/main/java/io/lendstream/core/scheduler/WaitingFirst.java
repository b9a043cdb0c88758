package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;

/**
 * Requests that wait come before expected ones. If nothing else is left for a service whose requests wait, replicas of
 * others are stopped for it that their present load does not need. Where all present needs exceed the GPUs, services
 * with more than their equal share give to those with less. What a service has beyond that it keeps.
 *
 * <p>So that services do not take replicas from each other in turn, a service keeps the replicas for its greatest load
 * within the time that a replica takes to come back, and one that has just started for as long.
 */
final class WaitingFirst {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    private final PresentNeeds needs;
    private final GiverQuotas quotas;
    private final BiPredicate<ServiceState, GpuState> suits;

    /**
     * Replicas that a service gives to another.
     *
     * @param kept the replicas that it keeps
     * @param isShare whether it gives what is beyond its equal share
     */
    private record Gift(PresentNeed from, PresentNeed to, int kept, boolean isShare) {
        static final Comparator<Gift> ORDER = Comparator.comparing((Gift gift) -> gift.to.name())
                .thenComparing(gift -> gift.from.name())
                .thenComparing(Gift::isShare);
    }

    /** A replica to stop. */
    private record Found(Gift gift, GpuState unit, int beyond) {
        /** Replicas that rest first, then those of the service with the most replicas beyond those that it keeps. */
        static final Comparator<Found> CHEAPEST = Comparator.comparing(
                        (Found found) -> !found.unit.owner().isProtected())
                .thenComparing(found -> -found.beyond)
                .thenComparing(found -> found.gift.from.name());
    }

    /** What a service gives, for the reason of a stop. */
    record Words(String text, Map<String, Double> numbers) {
        Words {
            numbers = Map.copyOf(numbers);
        }
    }

    /** @param suits whether a service could use a unit once it is released */
    WaitingFirst(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            PresentNeeds needs,
            BiPredicate<ServiceState, GpuState> suits) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.needs = needs;
        this.quotas = new GiverQuotas(builder);
        this.suits = suits;
    }

    /** Whether requests that wait come before those that the policy expects. */
    static boolean isOn(SchedulerSettings settings, Policy policy) {
        return settings.changeLimits().slo().waitingFirst() && policy.info().looksAhead();
    }

    /** The claims of services; none asks yet. */
    WaitingClaims claims() {
        SortedMap<ServiceId, PresentNeed> all = new TreeMap<>();
        for (ServiceState service : builder.services().values()) {
            Optional<PresentNeed> need = needs.of(service);
            need.ifPresent(each -> all.put(each.name(), each));
        }
        return new WaitingClaims(all, most -> unused(all.values(), most));
    }

    /** GPUs of inference that no replica is on, and that a service which waits could have; counted up to a number. */
    private int unused(Collection<PresentNeed> all, int most) {
        int unused = 0;
        for (GpuId loan : builder.clusterIndex().gpus().loans().values()) {
            if (unused >= most) {
                return unused;
            }
            GpuState unit = builder.gpu(loan);
            unused += unit.isWhole() && unit.pool() == Pool.INFERENCE && builder.isReachable(unit) ? 1 : 0;
        }
        List<ServiceState> waiting = all.stream()
                .filter(need -> need.asked() > need.has())
                .map(PresentNeed::service)
                .toList();
        Map<GpuId, GpuState> open = new HashMap<>();
        pool.coming().forEach(unit -> open.put(unit.gpuId(), unit));
        for (GpuState unit : builder.clusterIndex().gpus().free().values()) {
            if (unit.pool() == Pool.INFERENCE && builder.isReachable(unit)) {
                open.put(unit.gpuId(), unit);
            }
        }
        for (GpuState unit : open.values()) {
            unused += waiting.stream().anyMatch(service -> suits.test(service, unit)) ? 1 : 0;
        }
        return unused;
    }

    /**
     * Stops replicas for requests that wait, as far as no GPU is about to be free for them. After a rate or a forecast
     * only for requests of its service: the others are looked at by their own, or at the next tick.
     *
     * @param lacking the replicas that services lack
     * @param served the services of this step, also those that lack none
     * @param because makes the reason of a stop
     */
    void take(Map<ServiceId, Integer> lacking, Set<ServiceId> served, BiFunction<ServiceState, Words, Reason> because) {
        Set<ServiceId> now =
                builder.heard().map(service -> Set.of(service.spec().service())).orElse(lacking.keySet());
        if (now.stream().anyMatch(name -> lacking.getOrDefault(name, 0) > 0 && isWaiting(name))) {
            WaitingClaims claims = claims();
            for (PresentNeed need : claims.needs().values()) {
                int others = pool.isHeldBack(need.service()) ? 0 : need.asked();
                boolean isServed = served.contains(need.name());
                claims.ask(need.name(), 0, isServed ? lacking.getOrDefault(need.name(), 0) : others);
            }
            if (claims.exceed()) {
                builder.heard()
                        .filter(service -> !exceededBefore(claims, service))
                        .ifPresent(service -> builder.decide(
                                builder.now(),
                                because.apply(
                                        service, new Words(claims.inWords() + ". " + claims.order(), claims.numbers())),
                                new Action.Hold(
                                        Optional.empty(),
                                        Optional.of(service.spec().service()))));
            }
            take(claims, now, because);
        }
    }

    /** Whether present needs exceeded the GPUs already by the rate before this one. */
    private boolean exceededBefore(WaitingClaims claims, ServiceState service) {
        ServiceId name = service.spec().service();
        int before = builder.before()
                .services()
                .get(name)
                .flatMap(needs::of)
                .map(PresentNeed::asked)
                .orElse(0);
        return claims.exceedWith(name, before);
    }

    private boolean isWaiting(ServiceId name) {
        return needs.of(builder.services().require(name))
                .filter(need -> need.asked() > need.has())
                .isPresent();
    }

    private void take(WaitingClaims claims, Set<ServiceId> now, BiFunction<ServiceState, Words, Reason> because) {
        Map<ServiceId, List<GpuState>> left = new HashMap<>();
        List<GpuState> coming = pool.coming();
        Map<Gift, List<GpuId>> gifts = new TreeMap<>(Gift.ORDER);
        for (Optional<PresentNeed> next = claims.next(); next.isPresent(); next = claims.next()) {
            PresentNeed to = next.get();
            if (isComing(to, coming)) {
                claims.got(to);
                continue;
            }
            Optional<Found> found = find(to, claims, left);
            if (found.isEmpty()) {
                int gained = now.contains(to.name()) ? takeGroups(to, claims.missing(to)) : 0;
                for (int i = 0; i < gained; i++) {
                    claims.got(to);
                }
                claims.giveUp(to);
                continue;
            }
            claims.got(to);
            Gift gift = found.get().gift();
            quotas.give(gift.from().name(), List.of(found.get().unit()));
            Objects.requireNonNull(left.get(gift.from().name()))
                    .remove(found.get().unit());
            if (now.contains(to.name())) {
                gifts.computeIfAbsent(gift, any -> new ArrayList<>())
                        .add(found.get().unit().gpuId());
            }
        }
        gifts.forEach((gift, units) -> stop(gift, units.stream().sorted().toList(), claims, because));
    }

    /** Stops replicas of several GPUs for a service of single GPUs; returns how many GPUs it gets. */
    private int takeGroups(PresentNeed to, int most) {
        if (builder.clusterIndex().gpus().groups().isEmpty()) {
            return 0;
        }
        SpareGivers givers = new SpareGivers(builder, policy, settings, needs, to.service(), quotas);
        List<GpuState> units = givers.giveUnits(unit -> suits.test(to.service(), unit), most);
        if (!units.isEmpty()) {
            givers.stop(Reason.counted(units.size(), "replica"));
            Tenant tenant = new Tenant.Service(to.name());
            Instant until = new ReplicaChanges(builder, settings).promisedUntil();
            units.forEach(unit -> builder.promises().add(unit.gpuId(), tenant, until));
        }
        return units.size();
    }

    /** Takes a GPU for a service that is about to be free. */
    private boolean isComing(PresentNeed to, List<GpuState> coming) {
        for (GpuState unit : coming) {
            if (suits.test(to.service(), unit)) {
                coming.remove(unit);
                return true;
            }
        }
        return false;
    }

    /** A replica that its service does not need now; for a service below its equal share, one of an other's excess. */
    private Optional<Found> find(PresentNeed to, WaitingClaims claims, Map<ServiceId, List<GpuState>> left) {
        Optional<Found> spare = find(to, claims, left, false);
        return spare.isPresent() || !claims.isBelowShare(to) ? spare : find(to, claims, left, true);
    }

    private Optional<Found> find(
            PresentNeed to, WaitingClaims claims, Map<ServiceId, List<GpuState>> left, boolean isShare) {
        List<Found> found = new ArrayList<>();
        for (PresentNeed from : claims.needs().values()) {
            if (from.name().equals(to.name()) || (isShare && !from.isKnown())) {
                continue;
            }
            int kept = isShare ? Math.min(from.kept(), claims.mostKept(from)) : from.kept();
            List<GpuState> theirs = left.computeIfAbsent(from.name(), any -> new ArrayList<>(from.up()));
            last(to, from, theirs, kept)
                    .ifPresent(unit ->
                            found.add(new Found(new Gift(from, to, kept, isShare), unit, theirs.size() - kept)));
        }
        return found.stream().min(Found.CHEAPEST);
    }

    /** The last of these replicas, beyond those that are kept, that has not just started. */
    private Optional<GpuState> last(PresentNeed to, PresentNeed from, List<GpuState> theirs, int kept) {
        if (theirs.size() <= kept) {
            return Optional.empty();
        }
        for (int i = theirs.size() - 1; i >= kept; i--) {
            GpuState unit = theirs.get(i);
            boolean mayGive = quotas.mayGive(from.name(), to.name(), List.of(unit));
            if (mayGive && !needs.hasJustStarted(from.service(), unit) && suits.test(to.service(), unit)) {
                return Optional.of(unit);
            }
        }
        return Optional.empty();
    }

    private void stop(
            Gift gift, List<GpuId> units, WaitingClaims claims, BiFunction<ServiceState, Words, Reason> because) {
        ServiceId from = gift.from().name();
        String keeps = gift.isShare()
                ? "its equal share of %d, because %s".formatted(gift.kept(), claims.inWords())
                : "%d for its present load".formatted(gift.kept());
        String text =
                from + " " + Wording.stopsFor(units.size(), gift.to().name().value()) + ", and keeps " + keeps;
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("idled", (double) units.size());
        numbers.put("kept", (double) gift.kept());
        if (claims.exceed()) {
            numbers.putAll(claims.numbers());
        }
        new ReplicaChanges(builder, settings)
                .stop(from, units, because.apply(gift.to().service(), new Words(text, numbers)));
    }
}
