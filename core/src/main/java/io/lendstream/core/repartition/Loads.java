package io.lendstream.core.repartition;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.mig.MigProfile;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What services are asked for and what their instances can answer, in requests per second. */
final class Loads {
    private final List<Packing.Demand> demands;
    private final Map<String, Packing.Demand> byName = new TreeMap<>();
    private final Map<String, Double> atStart = new TreeMap<>();
    private final double perInstance;

    /** @param running the instances at the start; services without demand have a rate of 0 */
    Loads(List<Packing.Demand> demands, List<Instance> running) {
        this.demands = demands;
        for (Packing.Demand demand : demands) {
            if (byName.put(demand.service(), demand) != null) {
                throw new IllegalArgumentException("service %s is demanded twice".formatted(demand.service()));
            }
        }
        running.forEach(instance -> atStart.merge(instance.service(), capacity(instance), Double::sum));
        double answered = byName.keySet().stream().mapToDouble(this::needed).sum();
        this.perInstance = running.isEmpty() ? 0 : answered / running.size();
    }

    /** A demand's service, by its index. */
    String name(int service) {
        return demands.get(service).service();
    }

    double capacity(Instance instance) {
        return capacity(instance.service(), instance.place().profile());
    }

    double capacity(String service, MigProfile profile) {
        Packing.Demand demand = byName.get(service);
        return demand == null ? 0 : demand.capacities().getOrDefault(profile, 0.0);
    }

    double atStart(String service) {
        return atStart.getOrDefault(service, 0.0);
    }

    /** Below which a service must not fall: its rate, or what serves it at the start where that is less. */
    double needed(String service) {
        Packing.Demand demand = byName.get(service);
        return demand == null ? 0 : Math.min(demand.ratePerSecond(), atStart(service));
    }

    /**
     * The requests that an instance of the start answers, over those of an average one; each as much as it can of its
     * service's.
     */
    double relative(Instance instance) {
        double share = atStart(instance.service()) == 0 ? 0 : capacity(instance) / atStart(instance.service());
        return perInstance == 0 ? 0 : share * needed(instance.service()) / perInstance;
    }
}
