package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Packs services onto as few GPUs as can be, and then onto as few slices.
 *
 * <p>A service's price is the share of a GPU that a request per second costs on the profile that suits the service
 * best. GPU by GPU, the planner takes the cut with the greatest total value, where each instance goes to the service
 * that values it most: O(GPUs x cuts x slots x services). The result is then improved for a number of rounds: prices
 * are disturbed, or some GPUs are given up and their services are packed again. The result depends on the demands and
 * the seed alone.
 *
 * <p>Near the optimum, not at it: tests compare with an exact solver.
 */
public final class PackingPlanner {
    private static final double ENOUGH = 1e-9;
    private static final double DISTURBANCE = .25;
    private static final double SLOT_DISTURBANCE = .05;
    private static final int MOST_GIVEN_UP = 5;
    /**
     * Of so many rounds, and of more where there are many GPUs, one begins with whole covers, one with prices
     * disturbed.
     */
    private static final int AFRESH = 4;
    /** The others repair; one for every so many GPUs. */
    private static final int REPAIRED_GPUS = 10;

    private static final int ENOUGH_ROUNDS = 40;

    private final MigGpu gpu;
    private final List<Packing.Demand> demands;
    private final List<MigProfile> profiles;
    private final int[][] cuts;
    private final double[][] capacity;
    private final double[] price;

    /** A packing in the making: for each GPU its cut, and the service of each slot. */
    private static final class Draft {
        private final List<int[]> slots = new ArrayList<>();
        private final List<int[]> services = new ArrayList<>();
    }

    /**
     * For a kind of GPU.
     *
     * @param demands at least one
     */
    public PackingPlanner(MigGpu gpu, List<Packing.Demand> demands) {
        if (demands.isEmpty()) {
            throw new IllegalArgumentException("there must be at least 1 service to plan for, but there is none");
        }
        this.gpu = gpu;
        this.demands = List.copyOf(demands);
        this.profiles = gpu.profiles();
        this.cuts = MigLayouts.of(gpu).cuts().stream()
                .map(cut -> cut.stream().mapToInt(profiles::indexOf).toArray())
                .toArray(int[][]::new);
        this.capacity = new double[demands.size()][profiles.size()];
        this.price = new double[demands.size()];
        for (int service = 0; service < price.length; service++) {
            capacity[service] = demands.get(service).capacities(gpu);
            price[service] = Double.POSITIVE_INFINITY;
            for (int profile = 0; profile < profiles.size(); profile++) {
                double share = (double) profiles.get(profile).computeSlices() / gpu.computeSlices();
                price[service] = Math.min(price[service], share / capacity[service][profile]);
            }
        }
    }

    /** The first packing, without improvement. */
    public Packing greedy() {
        Draft draft = new Draft();
        fill(draft, rates(), price);
        return packing(draft);
    }

    /**
     * The best of so many rounds; of fewer where no plan can do with fewer GPUs, and for a while none with fewer slices
     * was found.
     */
    public Packing improved(int rounds, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        SlotPrices slots = SlotPrices.of(gpu, demands);
        int bound = PackingBounds.of(gpu, demands, slots).gpus();
        Draft best = new Draft();
        fill(best, rates(), price);
        shrink(best);
        int since = 0;
        for (int round = 0; round < rounds && (best.slots.size() > bound || since < ENOUGH_ROUNDS); round++) {
            Draft tried = switch (round % Math.max(AFRESH, best.slots.size() / REPAIRED_GPUS)) {
                case 0 -> covered(slots.toArray(), round, random);
                case 1 -> disturbed(random);
                default -> repaired(best, random);
            };
            shrink(tried);
            int order = compare(tried, best);
            best = order <= 0 ? tried : best;
            since = order < 0 ? 0 : since + 1;
        }
        return packing(best);
    }

    private double[] rates() {
        return demands.stream().mapToDouble(Packing.Demand::ratePerSecond).toArray();
    }

    /** Each service takes the instances that cost it least, and these are packed; the first time at the true prices. */
    private Draft covered(double[] prices, int round, SplittableRandom random) {
        List<Deque<Integer>> waiting = new ArrayList<>();
        for (int profile = 0; profile < prices.length; profile++) {
            prices[profile] *= round == 0 ? 1 : Math.exp(SLOT_DISTURBANCE * (2 * random.nextDouble() - 1));
            waiting.add(new ArrayDeque<>());
        }
        for (int service = 0; service < capacity.length; service++) {
            int[] instances = new Cover(demands.get(service).ratePerSecond(), capacity[service], prices).instances();
            for (int profile = 0; profile < instances.length; profile++) {
                waiting.get(profile).addAll(Collections.nCopies(instances[profile], service));
            }
        }
        Draft draft = new Draft();
        while (waiting.stream().anyMatch(services -> !services.isEmpty())) {
            int[] cut = fullest(waiting, prices);
            int[] services = Arrays.stream(cut)
                    .map(profile -> waiting.get(profile).isEmpty()
                            ? -1
                            : waiting.get(profile).remove())
                    .toArray();
            take(draft, cut, services, new double[capacity.length]);
        }
        return draft;
    }

    /** The cut that takes most off what waits. */
    private int[] fullest(List<Deque<Integer>> waiting, double[] prices) {
        int[] best = cuts[0];
        double most = -1;
        for (int[] cut : cuts) {
            int[] taken = new int[prices.length];
            double worth = 0;
            for (int profile : cut) {
                worth += ++taken[profile] <= waiting.get(profile).size() ? prices[profile] : 0;
            }
            if (worth > most) {
                most = worth;
                best = cut;
            }
        }
        return best;
    }

    private Draft disturbed(SplittableRandom random) {
        Draft draft = new Draft();
        fill(draft, rates(), disturb(random));
        return draft;
    }

    private double[] disturb(SplittableRandom random) {
        double[] disturbed = price.clone();
        for (int i = 0; i < disturbed.length; i++) {
            disturbed[i] *= Math.exp(DISTURBANCE * (2 * random.nextDouble() - 1) * 2);
        }
        return disturbed;
    }

    /** Gives up some GPUs, and packs their services again. */
    private Draft repaired(Draft from, SplittableRandom random) {
        int all = from.slots.size();
        int given = Math.min(all, 2 + random.nextInt(MOST_GIVEN_UP - 1));
        boolean[] gone = new boolean[all];
        for (int i = 0; i < given; i++) {
            gone[emptier(from, random)] = true;
        }
        Draft draft = new Draft();
        double[] left = rates();
        for (int gpu = 0; gpu < all; gpu++) {
            if (!gone[gpu]) {
                add(draft, from.slots.get(gpu), from.services.get(gpu), left);
            }
        }
        fill(draft, left, random.nextBoolean() ? price : disturb(random));
        return draft;
    }

    /** Of three GPUs at random the one of which least is in use. */
    private int emptier(Draft draft, SplittableRandom random) {
        int best = random.nextInt(draft.slots.size());
        for (int i = 0; i < 2; i++) {
            int other = random.nextInt(draft.slots.size());
            best = slices(draft.slots.get(other)) < slices(draft.slots.get(best)) ? other : best;
        }
        return best;
    }

    private int slices(int[] slots) {
        int sum = 0;
        for (int slot : slots) {
            sum += profiles.get(slot).computeSlices();
        }
        return sum;
    }

    private void add(Draft draft, int[] slots, int[] services, double[] left) {
        draft.slots.add(slots);
        draft.services.add(services);
        for (int slot = 0; slot < slots.length; slot++) {
            left[services[slot]] -= capacity[services[slot]][slots[slot]];
        }
    }

    /** Adds GPUs until nothing is left. */
    private void fill(Draft draft, double[] left, double[] prices) {
        double[] trial = new double[left.length];
        int[] services = new int[profiles.get(profiles.size() - 1).most() + 1];
        while (isAnyLeft(left)) {
            double most = 0;
            int[] bestCut = {};
            int[] bestServices = {};
            for (int[] cut : cuts) {
                System.arraycopy(left, 0, trial, 0, left.length);
                double worth = 0;
                int used = 0;
                for (int profile : cut) {
                    int service = worthiest(profile, trial, prices);
                    services[used++] = service;
                    if (service >= 0) {
                        worth += prices[service] * Math.min(capacity[service][profile], trial[service]);
                        trial[service] -= capacity[service][profile];
                    }
                }
                if (worth > most) {
                    most = worth;
                    bestCut = cut;
                    bestServices = Arrays.copyOf(services, used);
                }
            }
            take(draft, bestCut, bestServices, left);
        }
    }

    private boolean isAnyLeft(double[] left) {
        for (int service = 0; service < left.length; service++) {
            if (left[service] > ENOUGH * demands.get(service).ratePerSecond()) {
                return true;
            }
        }
        return false;
    }

    /** The service that values an instance most; -1 if no service needs it. */
    private int worthiest(int profile, double[] left, double[] prices) {
        int best = -1;
        double most = 0;
        for (int service = 0; service < left.length; service++) {
            double worth =
                    left[service] > 0 ? prices[service] * Math.min(capacity[service][profile], left[service]) : 0;
            if (worth > most) {
                most = worth;
                best = service;
            }
        }
        return best;
    }

    private void take(Draft draft, int[] cut, int[] services, double[] left) {
        int used = 0;
        int[] slots = new int[cut.length];
        int[] given = new int[cut.length];
        for (int slot = 0; slot < cut.length; slot++) {
            if (services[slot] >= 0) {
                slots[used] = cut[slot];
                given[used++] = services[slot];
            }
        }
        if (used == 0) {
            throw new IllegalStateException("what is left of the demands is worth nothing to any instance");
        }
        add(draft, Arrays.copyOf(slots, used), Arrays.copyOf(given, used), left);
    }

    /** Gives each instance the smallest profile that still covers what its service needs of it; those not needed go. */
    private void shrink(Draft draft) {
        double[] spare = new double[demands.size()];
        for (int i = 0; i < spare.length; i++) {
            spare[i] = -demands.get(i).ratePerSecond();
        }
        for (int gpu = 0; gpu < draft.slots.size(); gpu++) {
            for (int slot = 0; slot < draft.slots.get(gpu).length; slot++) {
                int service = draft.services.get(gpu)[slot];
                spare[service] += capacity[service][draft.slots.get(gpu)[slot]];
            }
        }
        for (int gpu = draft.slots.size() - 1; gpu >= 0; gpu--) {
            int[] slots = draft.slots.get(gpu).clone();
            int[] services = draft.services.get(gpu);
            boolean[] gone = new boolean[slots.length];
            for (int slot = slots.length - 1; slot >= 0; slot--) {
                int service = services[slot];
                double needed = capacity[service][slots[slot]] - spare[service];
                if (needed <= ENOUGH) {
                    spare[service] -= capacity[service][slots[slot]];
                    gone[slot] = true;
                    continue;
                }
                int smallest = smallest(service, slots[slot], needed);
                spare[service] -= capacity[service][slots[slot]] - capacity[service][smallest];
                slots[slot] = smallest;
            }
            keep(draft, gpu, slots, gone);
        }
    }

    private int smallest(int service, int profile, double needed) {
        int best = profile;
        for (int other = 0; other < profiles.size(); other++) {
            boolean smaller = profiles.get(other).memorySlices()
                            <= profiles.get(profile).memorySlices()
                    && profiles.get(other).computeSlices() < profiles.get(best).computeSlices()
                    && fitsWithin(other, profile);
            if (smaller && capacity[service][other] >= needed) {
                best = other;
            }
        }
        return best;
    }

    /** Whether a profile may begin wherever another does. */
    private boolean fitsWithin(int inner, int outer) {
        return profiles.get(inner).starts().containsAll(profiles.get(outer).starts());
    }

    private static void keep(Draft draft, int gpu, int[] slots, boolean[] gone) {
        int used = 0;
        int[] services = draft.services.get(gpu);
        int[] kept = new int[slots.length];
        int[] given = new int[slots.length];
        for (int slot = 0; slot < slots.length; slot++) {
            if (!gone[slot]) {
                kept[used] = slots[slot];
                given[used++] = services[slot];
            }
        }
        if (used == 0) {
            draft.slots.remove(gpu);
            draft.services.remove(gpu);
        } else {
            draft.slots.set(gpu, Arrays.copyOf(kept, used));
            draft.services.set(gpu, Arrays.copyOf(given, used));
        }
    }

    /** Fewer GPUs first, then fewer slices. */
    private int compare(Draft one, Draft other) {
        int order = Integer.compare(one.slots.size(), other.slots.size());
        return order != 0 ? order : Integer.compare(slices(one), slices(other));
    }

    private int slices(Draft draft) {
        int sum = 0;
        for (int[] slots : draft.slots) {
            sum += slices(slots);
        }
        return sum;
    }

    private Packing packing(Draft draft) {
        List<Packing.Cut> gpus = new ArrayList<>();
        for (int gpu = 0; gpu < draft.slots.size(); gpu++) {
            int[] slots = draft.slots.get(gpu);
            int[] services = draft.services.get(gpu);
            List<Integer> order = new ArrayList<>();
            for (int slot = 0; slot < slots.length; slot++) {
                order.add(slot);
            }
            order.sort(Comparator.comparingInt(slot -> slots[slot]));
            gpus.add(new Packing.Cut(
                    order.stream().map(slot -> profiles.get(slots[slot])).toList(),
                    order.stream().map(slot -> services[slot]).toList()));
        }
        return new Packing(gpus);
    }
}
