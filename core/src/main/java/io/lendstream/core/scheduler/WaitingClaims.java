package io.lendstream.core.scheduler;

import io.lendstream.core.id.ServiceId;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.function.IntUnaryOperator;

/**
 * Which service gets the next GPU, of those whose requests wait. Where all present needs exceed the GPUs that there
 * are, the first ones go to services with less than their equal share: what they need, up to a number that is the same
 * for all, and as great as the GPUs allow (max-min fairness). Otherwise, and beyond that, the service goes first that
 * misses the greatest share of its need.
 */
final class WaitingClaims {
    private final SortedMap<ServiceId, PresentNeed> needs;
    private final int held;
    private final IntUnaryOperator unused;
    private final long needed;
    /** The services that may ask for more. */
    private final Map<ServiceId, PresentNeed> asking = new HashMap<>();
    /** The GPUs that services of single GPUs have or could have; empty unless needs exceed them. */
    private OptionalInt gpus = OptionalInt.empty();

    private boolean isCompared;
    private OptionalInt equal = OptionalInt.empty();

    /** The replicas of services that are still to get some. */
    private final Map<ServiceId, Integer> has = new HashMap<>();

    private final Map<ServiceId, Integer> most = new HashMap<>();

    /**
     * @param needs of all services
     * @param unused counts GPUs beyond those of replicas that services could have, up to a number: there may be
     *     thousands, and needs seldom exceed them; asked for once, before any decision
     */
    WaitingClaims(SortedMap<ServiceId, PresentNeed> needs, IntUnaryOperator unused) {
        this.needs = Collections.unmodifiableSortedMap(needs);
        this.unused = unused;
        int has = 0;
        long claimed = 0;
        for (PresentNeed need : needs.values()) {
            has += need.has();
            claimed += need.claimed();
        }
        this.held = has;
        this.needed = claimed;
    }

    /** The greatest number for which there are GPUs if no service gets more beyond its floor; at least one. */
    private int equal() {
        if (equal.isEmpty()) {
            equal = OptionalInt.of(equal(needs, gpus.orElseThrow()));
        }
        return equal.getAsInt();
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
            asking.remove(service);
            if (missing(need) > 0) {
                asking.put(service, need);
            }
        }
    }

    /** The needs of all services. */
    SortedMap<ServiceId, PresentNeed> needs() {
        return needs;
    }

    /** The service that gets the next GPU; empty if none waits any more. */
    Optional<PresentNeed> next() {
        asking.values().removeIf(need -> missing(need) <= 0);
        return asking.values().stream()
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
        if (!isCompared) {
            isCompared = true;
            long more = needed - held;
            if (more > 0 && more > unused.applyAsInt((int) Math.min(Integer.MAX_VALUE, more))) {
                gpus = OptionalInt.of(held + unused.applyAsInt(Integer.MAX_VALUE));
            }
        }
        return gpus.isPresent();
    }

    /** The same, where they do, if a service asked for another number of replicas. */
    boolean exceedWith(ServiceId service, int asked) {
        PresentNeed now = needs.get(service);
        return needed - (now == null ? 0 : now.claimed()) + asked > gpus.orElseThrow();
    }

    /** Whether a service has less than its equal share, because present needs exceed the GPUs that there are. */
    boolean isBelowShare(PresentNeed need) {
        return exceed() && has.getOrDefault(need.name(), need.has()) < share(need);
    }

    /** The equal share of a service, at least its floor. */
    int share(PresentNeed need) {
        return Math.max(
                Math.min(need.asked(), equal()),
                Math.min(need.asked(), need.service().spec().floorReplicas()));
    }

    /** The most that a service keeps where others have less than their equal share. */
    int mostKept(PresentNeed need) {
        return Math.max(equal(), need.service().spec().floorReplicas());
    }

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
        return "%d services need %d replicas now, and there are %d GPUs for them"
                .formatted(needy(), needed, gpus.orElseThrow());
    }

    /** How they share the GPUs. */
    String order() {
        return "Each gets its equal share of %d first, then the one that misses the greatest share of its need"
                .formatted(equal());
    }

    /** Services that ask for replicas. */
    private long needy() {
        return needs.values().stream().filter(need -> need.asked() > 0).count();
    }

    /** The numbers of these words. */
    Map<String, Double> numbers() {
        return Map.of(
                "services",
                (double) needy(),
                "neededByAll",
                (double) needed,
                "gpusForAll",
                (double) gpus.orElseThrow(),
                "equalShare",
                (double) equal());
    }

    /** The replicas that a service still asks for. */
    int missing(PresentNeed need) {
        return Math.min(most.getOrDefault(need.name(), 0), need.asked() - has.getOrDefault(need.name(), need.has()));
    }

    private double shareMissed(PresentNeed need) {
        int wanted = isBelowShare(need) ? share(need) : need.asked();
        return (wanted - has.getOrDefault(need.name(), need.has())) / (double) wanted;
    }
}
