package io.lendstream.core.repartition;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random transitions: GPUs cut at random now and in the target, with random services. */
record Cases(
        MigLayouts layouts, List<GpuId> gpus, List<Instance> running, Packing target, List<Packing.Demand> demands) {
    private static final List<MigLayouts> KINDS = List.of(kind("A30-24GB"), kind("A100-80GB"));
    private static final List<List<List<MigPlace>>> STATES =
            KINDS.stream().map(MigLayouts::states).toList();
    private static final List<List<List<MigPlace>>> MAXIMAL =
            KINDS.stream().map(MigLayouts::maximal).toList();

    static MigLayouts kind(String model) {
        return MigLayouts.of(MigGpu.named(model).orElseThrow().withoutMediaEngines());
    }

    static GpuId gpu(int index) {
        return new GpuId("gpu-%03d".formatted(index));
    }

    /**
     * Of up to six GPUs and five services.
     *
     * @param load rates over what can be answered both at the start and by the target
     * @param alike whether all instances can do the same, and are all needed
     */
    static Cases random(Random random, int spares, double load, boolean alike) {
        int kind = random.nextInt(KINDS.size());
        MigLayouts layouts = KINDS.get(kind);
        int services = 1 + random.nextInt(5);
        List<Packing.Demand> able = new ArrayList<>();
        for (int service = 0; service < services; service++) {
            able.add(new Packing.Demand("service-" + service, 1, capacities(layouts.gpu(), random, alike)));
        }
        int before = 1 + random.nextInt(6);
        List<Instance> running = new ArrayList<>();
        List<GpuId> gpus = new ArrayList<>();
        for (int gpu = 0; gpu < before + spares; gpu++) {
            gpus.add(gpu(gpu));
            List<MigPlace> places = gpu < before ? any(MAXIMAL.get(kind), random) : List.<MigPlace>of();
            for (MigPlace place : places) {
                String service = "service-" + random.nextInt(services + (alike ? 0 : 1));
                if (random.nextInt(8) > 0) {
                    running.add(new Instance(gpu(gpu), place, service));
                }
            }
        }
        List<Packing.Cut> cuts = new ArrayList<>();
        for (int gpu = 1 + random.nextInt(before); gpu > 0; gpu--) {
            List<MigProfile> profiles = any(STATES.get(kind), random).stream()
                    .map(MigPlace::profile)
                    .toList();
            cuts.add(new Packing.Cut(
                    profiles,
                    profiles.stream().map(each -> random.nextInt(services)).toList()));
        }
        Packing target = new Packing(cuts);
        double[] later = target.capacities(able);
        List<Packing.Demand> demands = new ArrayList<>();
        for (int service = 0; service < services; service++) {
            Packing.Demand each = able.get(service);
            double both = Math.min(later[service], Reached.capacity(each, running));
            demands.add(
                    new Packing.Demand(each.service(), alike ? 1000 : Math.max(1e-3, load * both), each.capacities()));
        }
        return new Cases(layouts, gpus, running, target, demands);
    }

    /** One whose target covers whatever is to be kept up. */
    static Cases covered(Random random, int spares, double load) {
        while (true) {
            Cases cases = random(random, spares, load, false);
            double[] later = cases.target.capacities(cases.demands);
            boolean covers = true;
            for (int service = 0; service < later.length; service++) {
                covers &= later[service] >= cases.floor(cases.demands.get(service));
            }
            if (covers) {
                return cases;
            }
        }
    }

    /**
     * From one good packing to another, as rates change.
     *
     * @param gpusNeeded about, at the start
     */
    static Cases planned(Random random, int services, int gpusNeeded, int spares) {
        MigLayouts layouts = KINDS.get(1);
        List<Packing.Demand> before = new ArrayList<>();
        List<Packing.Demand> demands = new ArrayList<>();
        for (int service = 0; service < services; service++) {
            Map<MigProfile, Double> capacities = capacities(layouts.gpu(), random, false);
            double largest = capacities.values().stream().max(Double::compare).orElseThrow();
            double rate = 2 * random.nextDouble() * gpusNeeded * largest / services;
            String name = "service-" + service;
            before.add(new Packing.Demand(name, rate, capacities));
            demands.add(new Packing.Demand(name, rate * (.5 + random.nextDouble()), capacities));
        }
        Packing running = new PackingPlanner(layouts.gpu(), before).improved(20, 1);
        Packing target = new PackingPlanner(layouts.gpu(), demands).improved(20, 1);
        List<GpuId> gpus = new ArrayList<>();
        int all = Math.max(running.gpus().size(), target.gpus().size()) + spares;
        for (int gpu = 0; gpu < all; gpu++) {
            gpus.add(gpu(gpu));
        }
        return new Cases(layouts, gpus, inTurn(layouts, running, before), target, demands);
    }

    /** Each cut on the next GPU, where an empty GPU would have it. */
    static List<Instance> inTurn(MigLayouts layouts, Packing packing, List<Packing.Demand> demands) {
        List<Instance> instances = new ArrayList<>();
        for (int gpu = 0; gpu < packing.gpus().size(); gpu++) {
            Packing.Cut cut = packing.gpus().get(gpu);
            List<MigPlace> places = cut.places(layouts);
            for (int i = 0; i < places.size(); i++) {
                String service = demands.get(cut.services().get(i)).service();
                instances.add(new Instance(gpu(gpu), places.get(i), service));
            }
        }
        return instances;
    }

    static <T> T any(List<T> list, Random random) {
        return list.get(random.nextInt(list.size()));
    }

    /** More on larger instances, not in proportion; nothing on small ones for some services. */
    private static Map<MigProfile, Double> capacities(MigGpu gpu, Random random, boolean alike) {
        Map<MigProfile, Double> capacities = new HashMap<>();
        double scale = 5 + random.nextInt(100);
        double exponent = .6 + random.nextDouble() * .6;
        int least = random.nextInt(3);
        for (MigProfile profile : gpu.profiles()) {
            if (alike) {
                capacities.put(profile, 1.0);
            } else if (profile.memorySlices() >= least) {
                capacities.put(profile, scale * Math.pow(profile.computeSlices(), exponent));
            }
        }
        return capacities;
    }

    Transition plan(boolean mayFallShort) {
        return planner(mayFallShort).plan(gpus, running, target, demands);
    }

    TransitionPlanner planner(boolean mayFallShort) {
        return new TransitionPlanner(layouts, RepartitionTimes.DEFAULT, mayFallShort);
    }

    Reached reached(Transition transition, Random random) {
        return new Reached(layouts, demands, running).after(transition.steps(), random);
    }

    /** What a service must never fall below. */
    double floor(Packing.Demand demand) {
        return Math.min(demand.ratePerSecond(), Reached.capacity(demand, running)) * (1 - 1e-6);
    }
}
