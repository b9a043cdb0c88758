package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import java.util.ArrayList;
import java.util.List;

/**
 * A plan by which services share GPUs: their instances and their batches.
 *
 * @param services as planned for
 * @param instances by GPU and place; those of a service share its requests in proportion to what each can do
 * @param bounds GPUs that no plan can do without
 */
public record BatchPlan(
        MigGpu gpu, List<ServiceCapacity> services, Packing packing, List<Instance> instances, PackingBounds bounds) {
    private static final int ROUNDS = 400;

    /**
     * An instance of the plan.
     *
     * @param gpu number of the GPU, from 0
     * @param service by index
     * @param ratePerSecond its share of the service's requests
     */
    public record Instance(int gpu, MigPlace place, int service, double ratePerSecond) {}

    public BatchPlan {
        services = List.copyOf(services);
        instances = List.copyOf(instances);
    }

    /**
     * Plans for services whose capacities are known.
     *
     * @throws IllegalArgumentException if a service cannot be in time on any instance
     */
    public static BatchPlan of(MigGpu gpu, List<ServiceCapacity> services, long seed) {
        List<Packing.Demand> demands =
                services.stream().map(ServiceCapacity::demand).toList();
        MigGpu used = usable(gpu, demands);
        Packing packing = new PackingPlanner(used, demands).improved(ROUNDS, seed);
        MigLayouts layouts = MigLayouts.of(used);
        double[] capacities = packing.capacities(demands);
        List<Instance> instances = new ArrayList<>();
        for (int number = 0; number < packing.gpus().size(); number++) {
            Packing.Cut cut = packing.gpus().get(number);
            List<MigPlace> places = cut.places(layouts);
            for (int slot = 0; slot < places.size(); slot++) {
                int service = cut.services().get(slot);
                Packing.Demand demand = demands.get(service);
                double share = demand.capacity(places.get(slot).profile()) / capacities[service];
                instances.add(new Instance(number, places.get(slot), service, share * demand.ratePerSecond()));
            }
        }
        return new BatchPlan(used, services, packing, instances, PackingBounds.of(used, demands));
    }

    /** Without the profiles that no service can use, there are fewer ways to cut a GPU. */
    private static MigGpu usable(MigGpu gpu, List<Packing.Demand> demands) {
        return gpu.only(profile -> demands.stream().anyMatch(demand -> demand.capacity(profile) > 0));
    }

    /** GPUs in use. */
    public int gpus() {
        return packing.gpus().size();
    }
}
