package io.lendstream.core.repartition;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * Plans the transition from the running instances to a packing, by "exchange and compact". New instances are made and
 * warmed wherever there is room, and take over requests. The instances that they replace are drained and removed, which
 * makes room for more.
 *
 * <p>After every step, and with the steps of a stage in any order, instances that are warm and not draining can answer
 * each service's rate; where they could not at the start, never less than then. Every GPU is always cut legally. Where
 * there is no room for a new instance before an old one goes that is still needed, others take the old one's place for
 * a while on GPUs that have room.
 *
 * <p>If there is not enough room for that either, the rest is left out: the planned part is safe, and the transition
 * names the services that would fall short next, and by how much. An empty GPU more may help; as many empty ones as the
 * target has GPUs always do. Or services may be allowed to fall short, and the target is always reached.
 *
 * <p>If the cheapest choice of GPUs cannot be reached safely, a dearer one is tried in which new instances wait for
 * room as seldom as can be.
 *
 * @param layouts of the one kind of GPU
 * @param mayFallShort whether to go on, and report it, if a service cannot be kept at its rate
 * @see <a href="https://arxiv.org/abs/2109.11067">MIG-serving, section 6, whose term "exchange and compact" is</a>
 */
public record TransitionPlanner(MigLayouts layouts, RepartitionTimes times, boolean mayFallShort) {
    private static final double WAITING = 1;
    private static final double RATHER_ELSEWHERE = 1e6;

    /**
     * A transition; the same for the same input.
     *
     * @param gpus the GPUs that may be used: those with instances, and spare ones
     * @param running instances that are warm
     * @param target the packing to be reached, its services by index into {@code demands}
     * @param demands rates to be served on the way, and what instances can answer
     */
    public Transition plan(
            Collection<GpuId> gpus, Collection<Instance> running, Packing target, List<Packing.Demand> demands) {
        TreeMap<GpuId, List<Instance>> held = held(gpus, running);
        if (target.gpus().size() > held.size()) {
            throw new IllegalArgumentException("the target needs %d GPUs, but only %d may be used; add %d"
                    .formatted(target.gpus().size(), held.size(), target.gpus().size() - held.size()));
        }
        Loads loads =
                new Loads(demands, held.values().stream().flatMap(List::stream).toList());
        Transition cheapest = transition(held, target, loads, WAITING);
        if (cheapest.shortfalls().isEmpty()) {
            return cheapest;
        }
        Transition roomier = transition(held, target, loads, RATHER_ELSEWHERE);
        return roomier.shortfalls().isEmpty() ? roomier : cheapest;
    }

    private Transition transition(TreeMap<GpuId, List<Instance>> held, Packing target, Loads loads, double waiting) {
        List<Instance> wanted = new Assignment(layouts, times, loads, waiting).of(held, target);
        return new TransitionSearch(layouts, times, loads, held, wanted).lead(mayFallShort);
    }

    private TreeMap<GpuId, List<Instance>> held(Collection<GpuId> gpus, Collection<Instance> running) {
        TreeMap<GpuId, List<Instance>> held = new TreeMap<>();
        gpus.forEach(gpu -> held.put(gpu, new ArrayList<>()));
        for (Instance instance : running.stream().sorted().toList()) {
            List<Instance> there = held.get(instance.gpu());
            if (there == null) {
                throw new IllegalArgumentException(
                        "%s runs on GPU %s, which is not among those that may be used; add it"
                                .formatted(instance, instance.gpu()));
            }
            there.add(instance);
        }
        held.forEach((gpu, instances) -> {
            List<MigPlace> places = instances.stream().map(Instance::place).toList();
            if (!layouts.isLegal(places)) {
                throw new IllegalArgumentException("GPU %s of kind %s cannot be cut into %s"
                        .formatted(gpu, layouts.gpu().model(), places));
            }
        });
        return held;
    }
}
