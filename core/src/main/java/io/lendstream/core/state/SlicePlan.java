package io.lendstream.core.state;

import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The plan by which services share GPUs that can be cut into MIG instances. The assignment of cuts to GPUs is not part
 * of it: that follows from what there is.
 *
 * @param at when it was last considered
 * @param model the kind of GPU, by the name of its {@link io.lendstream.core.mig.MigGpu}; empty where there is none
 * @param cuts what each GPU in use is to hold
 * @param demands the services that it was last considered for
 * @param agreed plan periods in a row that have agreed on fewer GPUs
 * @param counted when the last of them was counted
 * @param cutsFrom before when no GPU is cut
 * @param reason why it was put in force
 */
public record SlicePlan(
        Instant at,
        String model,
        List<Cut> cuts,
        List<Demand> demands,
        int agreed,
        Instant counted,
        Instant cutsFrom,
        String reason) {
    /**
     * A GPU in use.
     *
     * @param profiles of its instances, biggest first
     * @param services one an instance, in the same order
     */
    public record Cut(List<String> profiles, List<ServiceId> services) {
        public Cut {
            profiles = List.copyOf(profiles);
            services = List.copyOf(services);
        }
    }

    /**
     * A service on MIG instances.
     *
     * @param ratePerSecond requests that it was planned for
     * @param capacities requests per second that an instance answers within the objective, by profile
     */
    public record Demand(ServiceId service, double ratePerSecond, Map<String, Double> capacities) {
        public Demand {
            capacities = Collections.unmodifiableSortedMap(new TreeMap<>(capacities));
        }

        public double capacity(String profile) {
            return capacities.getOrDefault(profile, 0.0);
        }

        /** On the instance that answers most; 0 without any. */
        public double largest() {
            return capacities.values().stream()
                    .mapToDouble(Double::doubleValue)
                    .max()
                    .orElse(0);
        }
    }

    public SlicePlan {
        cuts = List.copyOf(cuts);
        demands = List.copyOf(demands);
    }

    /** The same, when it was considered again without another being possible. */
    public SlicePlan consideredAt(Instant time) {
        return new SlicePlan(time, model, cuts, demands, agreed, counted, cutsFrom, reason);
    }

    /** The same where no GPU is cut before a time. */
    public SlicePlan cuttingFrom(Instant time) {
        return new SlicePlan(at, model, cuts, demands, agreed, counted, time, reason);
    }

    /** The same without a service, which does not run on instances any more. */
    public SlicePlan without(ServiceId service) {
        List<Demand> left = demands.stream()
                .filter(demand -> !demand.service().equals(service))
                .toList();
        return new SlicePlan(at, model, cuts, left, agreed, counted, cutsFrom, reason);
    }

    /** Those that are served on instances. */
    public Set<ServiceId> services() {
        return demands.stream().map(Demand::service).collect(Collectors.toUnmodifiableSet());
    }

    /** Empty for a service that is not served on instances. */
    public Optional<Demand> demand(ServiceId service) {
        return demands.stream()
                .filter(demand -> demand.service().equals(service))
                .findFirst();
    }

    /** What all instances planned for a service answer together, in requests per second. */
    public double capacity(ServiceId service) {
        double sum = 0;
        Optional<Demand> demand = demand(service);
        for (Cut cut : cuts) {
            for (int i = 0; i < cut.profiles().size(); i++) {
                boolean mine = demand.isPresent() && cut.services().get(i).equals(service);
                sum += mine ? demand.get().capacity(cut.profiles().get(i)) : 0;
            }
        }
        return sum;
    }
}
