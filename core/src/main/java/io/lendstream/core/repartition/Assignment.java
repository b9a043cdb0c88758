package io.lendstream.core.repartition;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Assigns the cuts of a target to GPUs, and places their instances, so that the change costs least.
 *
 * <p>An instance stays if it is where the target has one of its profile and service. Costs are seconds:
 *
 * <pre>
 * destroyed instance   destroy + (drain + load) x the requests it answers / those of an average instance
 * created instance     create + load, and destroy again where it has to wait for room
 * </pre>
 *
 * <p>Of all layouts of a cut on a GPU the cheapest is taken, by trying each: if the instances that stay leave no place
 * for the new ones, the cheapest of them are given up. GPUs that hold a cut already, wherever its instances lie, keep
 * it. Of the rest up to 500 cuts find their GPUs exactly, O(cuts^2 GPUs + cuts GPUs layouts); with more cuts, the
 * cheapest pair of a cut and a GPU is taken, and then the cheapest of the rest, O(cuts GPUs (log(cuts GPUs) +
 * layouts)).
 */
final class Assignment {
    private static final int MOST_EXACT = 500;

    private final MigLayouts layouts;
    private final RepartitionTimes times;
    private final Loads loads;
    private final double waiting;
    private final Map<List<MigProfile>, List<List<MigPlace>>> layoutsOf = new HashMap<>();

    /** A target cut: slots in the order of their profiles. */
    private record Cut(List<Slot> slots, double creation) {}

    private record Slot(MigProfile profile, String service) {}

    /** A GPU with what it would cost to empty it. */
    private record Candidate(GpuId gpu, List<Instance> running, double emptying) {}

    /** A cut laid out on a GPU. */
    private record Fit(double cost, List<Instance> instances) {}

    private record Pair(int cut, int candidate, double cost) {}

    /** @param waiting what it counts to wait for room, in times that an instance takes to go */
    Assignment(MigLayouts layouts, RepartitionTimes times, Loads loads, double waiting) {
        this.layouts = layouts;
        this.times = times;
        this.loads = loads;
        this.waiting = waiting;
    }

    /**
     * The target's instances on their GPUs, in order.
     *
     * @param gpus at least as many as the target has
     */
    List<Instance> of(Map<GpuId, List<Instance>> gpus, Packing target) {
        List<Instance> chosen = new ArrayList<>();
        TreeMap<GpuId, List<Instance>> left = new TreeMap<>(gpus);
        Map<List<Slot>, Deque<GpuId>> held = new HashMap<>();
        left.forEach((gpu, instances) -> held.computeIfAbsent(slots(instances), slots -> new ArrayDeque<>())
                .add(gpu));
        List<Cut> cuts = new ArrayList<>();
        for (Packing.Cut each : target.gpus()) {
            Cut cut = cut(each);
            Deque<GpuId> holding = held.getOrDefault(cut.slots, new ArrayDeque<>());
            if (holding.isEmpty()) {
                cuts.add(cut);
            } else {
                chosen.addAll(left.remove(holding.remove()));
            }
        }
        List<Candidate> candidates = new ArrayList<>();
        left.forEach((gpu, instances) -> candidates.add(new Candidate(
                gpu,
                instances,
                instances.stream().mapToDouble(this::destruction).sum())));
        int[] chosenOf = candidates(cuts, candidates);
        for (int cut = 0; cut < chosenOf.length; cut++) {
            chosen.addAll(cheapest(cuts.get(cut), candidates.get(chosenOf[cut])).instances);
        }
        chosen.sort(Comparator.naturalOrder());
        return chosen;
    }

    private int[] candidates(List<Cut> cuts, List<Candidate> candidates) {
        double[][] costs = new double[cuts.size()][candidates.size()];
        for (int cut = 0; cut < cuts.size(); cut++) {
            for (int candidate = 0; candidate < candidates.size(); candidate++) {
                costs[cut][candidate] =
                        cheapest(cuts.get(cut), candidates.get(candidate)).cost - candidates.get(candidate).emptying;
            }
        }
        return cuts.size() > MOST_EXACT ? greedily(costs) : Hungarian.columns(costs);
    }

    static int[] greedily(double[][] costs) {
        List<Pair> pairs = new ArrayList<>();
        for (int cut = 0; cut < costs.length; cut++) {
            for (int candidate = 0; candidate < costs[cut].length; candidate++) {
                pairs.add(new Pair(cut, candidate, costs[cut][candidate]));
            }
        }
        pairs.sort(Comparator.comparingDouble(Pair::cost));
        int[] chosenOf = new int[costs.length];
        Arrays.fill(chosenOf, -1);
        boolean[] taken = new boolean[costs[0].length];
        for (Pair pair : pairs) {
            if (chosenOf[pair.cut] < 0 && !taken[pair.candidate]) {
                chosenOf[pair.cut] = pair.candidate;
                taken[pair.candidate] = true;
            }
        }
        return chosenOf;
    }

    private Cut cut(Packing.Cut cut) {
        List<Slot> slots = new ArrayList<>();
        double creation = 0;
        for (int i = 0; i < cut.profiles().size(); i++) {
            String service = loads.name(cut.services().get(i));
            slots.add(new Slot(cut.profiles().get(i), service));
            creation += creation(service);
        }
        slots.sort(order());
        return new Cut(slots, creation);
    }

    private List<Slot> slots(List<Instance> instances) {
        return instances.stream()
                .map(instance -> new Slot(instance.place().profile(), instance.service()))
                .sorted(order())
                .toList();
    }

    private Comparator<Slot> order() {
        return Comparator.comparingInt((Slot slot) -> layouts.gpu().profiles().indexOf(slot.profile))
                .thenComparing(Slot::service);
    }

    private double creation(String service) {
        return RepartitionTimes.seconds(times.create().plus(times.load(service)));
    }

    private double destruction(Instance instance) {
        String service = instance.service();
        double away = RepartitionTimes.seconds(times.drain(service).plus(times.load(service)));
        return RepartitionTimes.seconds(times.destroy()) + away * loads.relative(instance);
    }

    private Fit cheapest(Cut cut, Candidate candidate) {
        List<MigPlace> best = List.of();
        double least = Double.POSITIVE_INFINITY;
        for (List<MigPlace> layout : layouts(cut)) {
            double cost = cost(cut, candidate, layout, new ArrayList<>());
            if (cost < least) {
                least = cost;
                best = layout;
            }
        }
        List<Instance> instances = new ArrayList<>();
        cost(cut, candidate, best, instances);
        return new Fit(least, instances);
    }

    private List<List<MigPlace>> layouts(Cut cut) {
        List<MigProfile> profiles = cut.slots.stream().map(Slot::profile).toList();
        List<List<MigPlace>> found = layoutsOf.computeIfAbsent(profiles, layouts::layouts);
        if (found.isEmpty()) {
            throw new IllegalArgumentException("%s cannot be cut into %s as the target has it"
                    .formatted(
                            layouts.gpu().model(),
                            profiles.stream().map(MigProfile::name).toList()));
        }
        return found;
    }

    /** @param instances takes those of the cut in this layout */
    private double cost(Cut cut, Candidate candidate, List<MigPlace> layout, List<Instance> instances) {
        double cost = cut.creation + candidate.emptying;
        int gone = 0;
        int used = 0;
        int kept = 0;
        for (Instance running : candidate.running) {
            int place = layout.indexOf(running.place());
            int slot = place < 0 ? -1 : slot(cut, used, new Slot(running.place().profile(), running.service())::equals);
            if (slot < 0) {
                gone |= running.place().bits();
            } else {
                used |= 1 << slot;
                kept |= 1 << place;
                instances.add(running);
                cost -= creation(running.service()) + destruction(running);
            }
        }
        for (int place = 0; place < layout.size(); place++) {
            if ((kept & 1 << place) == 0) {
                MigPlace added = layout.get(place);
                int slot = slot(cut, used, each -> each.profile.equals(added.profile()));
                used |= 1 << slot;
                instances.add(new Instance(candidate.gpu, added, cut.slots.get(slot).service));
                cost += (added.bits() & gone) == 0 ? 0 : waiting * RepartitionTimes.seconds(times.destroy());
            }
        }
        return cost;
    }

    /** The first slot that is wanted and not used yet; -1 where there is none. */
    private static int slot(Cut cut, int used, Predicate<Slot> wanted) {
        for (int slot = 0; slot < cut.slots.size(); slot++) {
            if ((used & 1 << slot) == 0 && wanted.test(cut.slots.get(slot))) {
                return slot;
            }
        }
        return -1;
    }
}
