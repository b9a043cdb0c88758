package io.lendstream.core.repartition;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The search for a transition: the present instances, those still to make and those still to remove.
 *
 * <p>It ends: each round makes at least one instance of the target, which then stays, or removes another instance
 * without making one.
 */
final class TransitionSearch {
    /** Rounding, as a share of a service's rate. */
    private static final double ENOUGH = 1e-9;

    private final MigLayouts layouts;
    private final RepartitionTimes times;
    private final Loads loads;
    private final List<Instance> target;
    private final Map<GpuId, TreeSet<Instance>> present = new TreeMap<>();
    private final TreeSet<Instance> missing;
    private final TreeSet<Instance> surplus = new TreeSet<>();
    private final Map<String, Double> serving = new TreeMap<>();
    private final Map<String, Double> least = new TreeMap<>();
    private final List<RepartitionStep> steps = new ArrayList<>();
    private int stages;

    /**
     * What lets instances of the target be made: those in their way go, once others that serve for a while are warm.
     */
    private final class Exchange {
        private final TreeSet<Instance> coming = new TreeSet<>();
        private final TreeSet<Instance> going = new TreeSet<>();
        private final TreeSet<Instance> temporary = new TreeSet<>();

        private Exchange() {}

        private Exchange(Exchange other) {
            coming.addAll(other.coming);
            going.addAll(other.going);
            temporary.addAll(other.temporary);
        }

        /** What a service must not fall below: what it needs, or what it has where that is less already. */
        private double keeps(String service) {
            return Math.min(loads.needed(service), serving.getOrDefault(service, 0.0));
        }

        /** By how much a service would fall below that; at most rounding where it would not. */
        private double lacking(String service) {
            double left = serving.getOrDefault(service, 0.0) - capacity(going, service) + capacity(temporary, service);
            return keeps(service) - left;
        }

        private boolean lacks(String service) {
            return lacking(service) > ENOUGH * loads.needed(service);
        }

        private List<Transition.Shortfall> shortfalls() {
            return serving.keySet().stream()
                    .filter(this::lacks)
                    .map(service ->
                            new Transition.Shortfall(service, keeps(service), keeps(service) - lacking(service)))
                    .toList();
        }

        /** The sum of shares of services that would not be served. */
        private double harm() {
            return shortfalls().stream()
                    .mapToDouble(each -> 1 - each.servedPerSecond() / each.neededPerSecond())
                    .sum();
        }
    }

    /** @param target instances on GPUs that {@code held} names */
    TransitionSearch(
            MigLayouts layouts,
            RepartitionTimes times,
            Loads loads,
            Map<GpuId, List<Instance>> held,
            List<Instance> target) {
        this.layouts = layouts;
        this.times = times;
        this.loads = loads;
        this.target = target;
        this.missing = new TreeSet<>(target);
        held.forEach((gpu, instances) -> {
            present.put(gpu, new TreeSet<>(instances));
            surplus.addAll(instances);
        });
        surplus.forEach(instance -> serving.merge(instance.service(), loads.capacity(instance), Double::sum));
        least.putAll(serving);
        TreeSet<Instance> kept = new TreeSet<>(target);
        kept.retainAll(surplus);
        missing.removeAll(kept);
        surplus.removeAll(kept);
    }

    /** All the way, or as far as is safe. */
    Transition lead(boolean mayFallShort) {
        exchange(false);
        while (!missing.isEmpty() || !surplus.isEmpty()) {
            if (!exchange(false) && !compact() && !exchange(true)) {
                Exchange next = leastHarmful();
                if (!mayFallShort) {
                    return transition(next.shortfalls());
                }
                carryOut(next);
            }
        }
        return transition(least.entrySet().stream()
                .filter(served -> served.getValue() < loads.needed(served.getKey()) * (1 - ENOUGH))
                .map(served ->
                        new Transition.Shortfall(served.getKey(), loads.needed(served.getKey()), served.getValue()))
                .toList());
    }

    /**
     * Makes room for as many missing instances as can be.
     *
     * @param mayAdd whether temporary instances may serve in place of those that go
     * @return whether there was any
     */
    private boolean exchange(boolean mayAdd) {
        Exchange all = new Exchange();
        for (Instance each : easiestFirst()) {
            Exchange more = with(all, each, mayAdd);
            all = more.shortfalls().isEmpty() ? more : all;
        }
        carryOut(all);
        return !all.coming.isEmpty();
    }

    private List<Instance> easiestFirst() {
        return missing.stream()
                .sorted(Comparator.comparingInt((Instance each) -> inTheWayOf(each).stream()
                                .mapToInt(other -> other.place().profile().memorySlices())
                                .sum())
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    /** The exchange that lets one more instance be made. */
    private Exchange with(Exchange before, Instance wanted, boolean mayAdd) {
        Exchange exchange = new Exchange(before);
        List<Instance> inTheWay = inTheWayOf(wanted);
        exchange.coming.add(wanted);
        exchange.going.addAll(inTheWay);
        if (mayAdd) {
            inTheWay.stream().map(Instance::service).distinct().forEach(service -> replace(exchange, service));
        }
        return exchange;
    }

    /** Instances of no use to the target that have to go first. */
    private List<Instance> inTheWayOf(Instance wanted) {
        List<Instance> old =
                there(wanted.gpu()).stream().filter(surplus::contains).toList();
        List<Instance> conflicting = old.stream()
                .filter(other -> !layouts.isLegal(List.of(other.place(), wanted.place())))
                .toList();
        Exchange only = new Exchange();
        only.going.addAll(conflicting);
        return layouts.isLegal(after(only, wanted)) ? conflicting : old;
    }

    /** Adds instances that serve for a while, as long as a service would fall short and there is room. */
    private void replace(Exchange exchange, String service) {
        while (exchange.lacks(service)) {
            double lacking = exchange.lacking(service);
            Optional<Instance> found = profilesFor(service, lacking).stream()
                    .flatMap(profile -> room(exchange, service, profile).stream())
                    .findFirst();
            if (found.isEmpty()) {
                return;
            }
            exchange.temporary.add(found.get());
        }
    }

    /** The smallest that can do it alone first; then those that can do most. */
    private List<MigProfile> profilesFor(String service, double lacking) {
        Function<MigProfile, Double> capacity = profile -> loads.capacity(service, profile);
        List<MigProfile> profiles = layouts.gpu().profiles();
        List<MigProfile> ordered = new ArrayList<>(profiles.stream()
                .filter(profile -> capacity.apply(profile) >= lacking)
                .sorted(Comparator.comparingInt(MigProfile::memorySlices).thenComparingInt(MigProfile::computeSlices))
                .toList());
        profiles.stream()
                .filter(profile -> capacity.apply(profile) > 0 && capacity.apply(profile) < lacking)
                .sorted(Comparator.comparing(capacity).reversed())
                .forEach(ordered::add);
        return ordered;
    }

    /**
     * Where an instance can serve for a while: rather where nothing else is to come, on the fullest GPU, and at its
     * end.
     */
    private Optional<Instance> room(Exchange exchange, String service, MigProfile profile) {
        List<GpuId> gpus = present.keySet().stream()
                .sorted(Comparator.comparing(this::isAwaited)
                        .thenComparingInt(gpu -> -slices(there(gpu)))
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
        for (GpuId gpu : gpus) {
            for (int start = profile.starts().size() - 1; start >= 0; start--) {
                Instance added =
                        new Instance(gpu, new MigPlace(profile, profile.starts().get(start)), service);
                if (hasRoom(exchange, added)) {
                    return Optional.of(added);
                }
            }
        }
        return Optional.empty();
    }

    private boolean isAwaited(GpuId gpu) {
        return missing.stream().anyMatch(each -> each.gpu().equals(gpu));
    }

    private static int slices(Collection<Instance> instances) {
        return instances.stream()
                .mapToInt(each -> each.place().profile().memorySlices())
                .sum();
    }

    /** Whether there is room before the exchange, and still after the expected instances have come. */
    private boolean hasRoom(Exchange exchange, Instance added) {
        List<MigPlace> before = new ArrayList<>(List.of(added.place()));
        there(added.gpu()).forEach(each -> before.add(each.place()));
        addThoseOn(added.gpu(), exchange.temporary, before);
        return layouts.isLegal(before) && layouts.isLegal(after(exchange, added));
    }

    /** What a GPU holds after an exchange and with one instance more. */
    private List<MigPlace> after(Exchange exchange, Instance added) {
        List<MigPlace> after = new ArrayList<>(List.of(added.place()));
        there(added.gpu()).stream()
                .filter(each -> !exchange.going.contains(each))
                .forEach(each -> after.add(each.place()));
        addThoseOn(added.gpu(), exchange.temporary, after);
        addThoseOn(added.gpu(), exchange.coming, after);
        return after;
    }

    private static void addThoseOn(GpuId gpu, Collection<Instance> instances, List<MigPlace> places) {
        instances.stream().filter(each -> each.gpu().equals(gpu)).forEach(each -> places.add(each.place()));
    }

    /** Removes instances that are not in the target and not needed. */
    private boolean compact() {
        Exchange exchange = new Exchange();
        for (Instance each : surplus) {
            exchange.going.add(each);
            if (exchange.lacks(each.service())) {
                exchange.going.remove(each);
            }
        }
        carryOut(exchange);
        return !exchange.going.isEmpty();
    }

    /**
     * What comes next where no step is safe; where only old instances are left that the target cannot do without, all
     * of them.
     */
    private Exchange leastHarmful() {
        Exchange last = new Exchange();
        last.going.addAll(surplus);
        return missing.stream()
                .map(each -> with(new Exchange(), each, true))
                .min(Comparator.comparingDouble(Exchange::harm))
                .orElse(last);
    }

    private void carryOut(Exchange exchange) {
        make(exchange.temporary);
        surplus.addAll(exchange.temporary);
        stage(exchange.going, RepartitionStep.Drain::new);
        for (Instance each : exchange.going) {
            serving.merge(each.service(), -loads.capacity(each), Double::sum);
        }
        serving.forEach((service, now) -> least.merge(service, now, Math::min));
        stage(exchange.going, RepartitionStep.Destroy::new);
        exchange.going.forEach(each -> there(each.gpu()).remove(each));
        surplus.removeAll(exchange.going);
        make(fitting());
    }

    /** The missing instances that have room. */
    private Collection<Instance> fitting() {
        Exchange none = new Exchange();
        missing.stream().filter(each -> hasRoom(none, each)).forEach(none.coming::add);
        return none.coming;
    }

    private void make(Collection<Instance> instances) {
        stage(instances, RepartitionStep.Create::new);
        stage(instances, RepartitionStep.Warm::new);
        for (Instance each : instances) {
            there(each.gpu()).add(each);
            serving.merge(each.service(), loads.capacity(each), Double::sum);
            missing.remove(each);
        }
    }

    private interface Kind {
        RepartitionStep of(int stage, Instance instance);
    }

    private void stage(Collection<Instance> instances, Kind kind) {
        instances.forEach(each -> steps.add(kind.of(stages, each)));
        stages += instances.isEmpty() ? 0 : 1;
    }

    private Set<Instance> there(GpuId gpu) {
        return present.getOrDefault(gpu, new TreeSet<>());
    }

    private double capacity(Collection<Instance> instances, String service) {
        return instances.stream()
                .filter(each -> each.service().equals(service))
                .mapToDouble(loads::capacity)
                .sum();
    }

    private Transition transition(List<Transition.Shortfall> shortfalls) {
        return new Transition(
                steps,
                target,
                present.values().stream().flatMap(Collection::stream).toList(),
                present.keySet().stream().filter(gpu -> there(gpu).isEmpty()).toList(),
                shortfalls,
                duration());
    }

    private Duration duration() {
        Duration sum = Duration.ZERO;
        for (int stage = 0, from = 0; stage < stages; stage++) {
            Map<GpuId, Duration> ofGpu = new TreeMap<>();
            Duration longest = Duration.ZERO;
            for (; from < steps.size() && steps.get(from).stage() == stage; from++) {
                RepartitionStep step = steps.get(from);
                boolean together = step instanceof RepartitionStep.Warm || step instanceof RepartitionStep.Drain;
                Duration ends = together
                        ? step.takes(times)
                        : ofGpu.merge(step.instance().gpu(), step.takes(times), Duration::plus);
                longest = longest.compareTo(ends) < 0 ? ends : longest;
            }
            sum = sum.plus(longest);
        }
        return sum;
    }
}
