package io.lendstream.core.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Instances of services on GPUs.
 *
 * @param gpus what each GPU in use holds, biggest first; places and services in the same order
 */
public record Packing(List<Cut> gpus) {
    /**
     * A GPU in use.
     *
     * @param services by index into the demands, one an instance
     */
    public record Cut(List<MigProfile> profiles, List<Integer> services) {
        public Cut {
            profiles = List.copyOf(profiles);
            services = List.copyOf(services);
            if (profiles.size() != services.size()) {
                throw new IllegalArgumentException(
                        "a GPU of %d instances was to hold %d services".formatted(profiles.size(), services.size()));
            }
        }

        int slices() {
            return profiles.stream().mapToInt(MigProfile::computeSlices).sum();
        }

        /** Where the instances go on a GPU that is not cut yet, in the order of {@link #profiles}. */
        public List<MigPlace> places(MigLayouts layouts) {
            List<MigPlace> free = new ArrayList<>(layouts.place(List.of(), profiles)
                    .orElseThrow(() -> new IllegalStateException("no GPU can be cut into " + profiles)));
            List<MigPlace> places = new ArrayList<>();
            for (MigProfile profile : profiles) {
                MigPlace place = free.stream()
                        .filter(each -> each.profile().equals(profile))
                        .findFirst()
                        .orElseThrow();
                free.remove(place);
                places.add(place);
            }
            return places;
        }
    }

    /**
     * A service to serve.
     *
     * @param ratePerSecond above 0
     * @param capacities requests per second of an instance, by profile; profiles that cannot serve it are left out
     */
    public record Demand(String service, double ratePerSecond, Map<MigProfile, Double> capacities) {
        public Demand {
            capacities = Map.copyOf(capacities);
            if (!(ratePerSecond > 0)) {
                throw new IllegalArgumentException(
                        "the rate of service %s must be above 0, but is %s".formatted(service, ratePerSecond));
            }
            if (capacities.values().stream().noneMatch(capacity -> capacity > 0)) {
                throw new IllegalArgumentException(
                        "service %s cannot be served on any instance within its objective".formatted(service));
            }
        }

        double capacity(MigProfile profile) {
            return capacities.getOrDefault(profile, 0.0);
        }

        /** By profile, in the order of the GPU's. */
        double[] capacities(MigGpu gpu) {
            return gpu.profiles().stream().mapToDouble(this::capacity).toArray();
        }
    }

    public Packing {
        gpus = List.copyOf(gpus);
    }

    /** Compute slices in use. */
    public int slices() {
        return gpus.stream().mapToInt(Cut::slices).sum();
    }

    /** What the instances of each service can answer together, in the order of the demands. */
    public double[] capacities(List<Demand> demands) {
        double[] sum = new double[demands.size()];
        for (Cut gpu : gpus) {
            for (int i = 0; i < gpu.profiles.size(); i++) {
                int service = gpu.services.get(i);
                sum[service] += demands.get(service).capacity(gpu.profiles.get(i));
            }
        }
        return sum;
    }

    /** Whether GPUs of a kind can be cut so, and every demand is met. */
    public boolean serves(List<Demand> demands, MigGpu gpu) {
        MigLayouts layouts = MigLayouts.of(gpu);
        double[] capacities = capacities(demands);
        for (int i = 0; i < capacities.length; i++) {
            if (capacities[i] < demands.get(i).ratePerSecond() * (1 - 1e-9)) {
                return false;
            }
        }
        return gpus.stream()
                .allMatch(cut -> layouts.place(List.of(), cut.profiles).isPresent());
    }
}
