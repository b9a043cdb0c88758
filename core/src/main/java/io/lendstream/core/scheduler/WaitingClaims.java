package io.lendstream.core.scheduler;

import io.lendstream.core.id.ServiceId;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Which service gets the next GPU, of those whose requests wait. Where all present needs exceed the GPUs that there
 * are, the first ones go to services with less than their equal share: what they need, up to a number that is the same
 * for all, and as great as the GPUs allow (max-min fairness). Otherwise, and beyond that, the service goes first that
 * misses the greatest share of its need.
 */
final class WaitingClaims {
    private final SortedMap<ServiceId, PresentNeed> needs;
    private final int gpus;
    private final long needed;
    private final long needy;
    private final int equal;
    /** The replicas of services that are still to get some. */
    private final Map<ServiceId, Integer> has = new HashMap<>();

    private final Map<ServiceId, Integer> most = new HashMap<>();

    /**
     * @param needs of all services
     * @param gpus the GPUs that services of single GPUs have or could have
     */
    WaitingClaims(SortedMap<ServiceId, PresentNeed> needs, int gpus) {
        this.needs = Collections.unmodifiableSortedMap(needs);
        this.gpus = gpus;
        this.needed = needs.values().stream().mapToLong(PresentNeed::claimed).sum();
        this.equal = equal(this.needs, gpus);
        this.needy = needs.values().stream().filter(need -> need.asked() > 0).count();
    }

    /**
     * A service asks for GPUs, unless it has no present need here.
     *
     * @param found GPUs that it gets besides those that it has
     * @param mostHere the most that it may ask for
     */
    void ask(ServiceId service, int found, int mostHere) {
        PresentNeed need = needs.get(service);
        if (need != null) {
            has.put(service, need.has() + found);
            most.put(service, mostHere);
        }
    }

    /** The needs of all services. */
    SortedMap<ServiceId, PresentNeed> needs() {
        return needs;
    }

    /** The service that gets the next GPU; empty if none waits any more. */
    Optional<PresentNeed> next() {
        return needs.values().stream()
                .filter(need -> missing(need) > 0)
                .min(Comparator.comparing((PresentNeed need) -> !isBelowShare(need))
                        .thenComparing(need -> -shareMissed(need))
                        .thenComparing(PresentNeed::name));
    }

    /** A service gets a GPU. */
    void got(PresentNeed need) {
        has.merge(need.name(), 1, Integer::sum);
        most.merge(need.name(), -1, Integer::sum);
    }

    /** There is nothing for a service any more. */
    void giveUp(PresentNeed need) {
        most.put(need.name(), 0);
    }

    /** Whether present needs exceed the GPUs that there are. */
    boolean exceed() {
        return needed > gpus;
    }

    /** The same if a service asked for another number of replicas. */
    boolean exceedWith(ServiceId service, int asked) {
        PresentNeed now = needs.get(service);
        return needed - (now == null ? 0 : now.claimed()) + asked > gpus;
    }

    /** Whether a service has less than its equal share, because present needs exceed the GPUs that there are. */
    boolean isBelowShare(PresentNeed need) {
        return exceed() && has.getOrDefault(need.name(), need.has()) < share(need);
    }

    /** The equal share of a service, at least its floor. */
    int share(PresentNeed need) {
        return Math.max(
                Math.min(need.asked(), equal),
                Math.min(need.asked(), need.service().spec().floorReplicas()));
    }

    /** The most that a service keeps where others have less than their equal share. */
    int mostKept(PresentNeed need) {
        return Math.max(equal, need.service().spec().floorReplicas());
    }

    /** The greatest number for which there are GPUs if no service gets more beyond its floor; at least one. */
    private static int equal(SortedMap<ServiceId, PresentNeed> needs, int gpus) {
        int least = 1;
        int most = Math.max(1, gpus);
        while (least < most) {
            int middle = least + (most - least + 1) / 2;
            long sum = needs.values().stream()
                    .mapToLong(need -> need.atMost(middle))
                    .sum();
            if (sum <= gpus) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        return least;
    }

    /** Such as {@code 4 services need 40 replicas now, and there are 32 GPUs for them}. */
    String inWords() {
        return "%d services need %d replicas now, and there are %d GPUs for them".formatted(needy, needed, gpus);
    }

    /** How they share the GPUs. */
    String order() {
        return "Each gets its equal share of %d first, then the one that misses the greatest share of its need"
                .formatted(equal);
    }

    /** The numbers of these words. */
    Map<String, Double> numbers() {
        return Map.of(
                "services",
                (double) needy,
                "neededByAll",
                (double) needed,
                "gpusForAll",
                (double) gpus,
                "equalShare",
                (double) equal);
    }

    private int missing(PresentNeed need) {
        return Math.min(most.getOrDefault(need.name(), 0), need.asked() - has.getOrDefault(need.name(), need.has()));
    }

    private double shareMissed(PresentNeed need) {
        int wanted = isBelowShare(need) ? share(need) : need.asked();
        return (wanted - has.getOrDefault(need.name(), need.has())) / (double) wanted;
    }
}
