package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedTopology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.DoubleFunction;

/**
 * Workloads of our own by name, made to fit the cluster they are for: demand that at its peak takes most of the
 * inference pool and leaves much of it idle otherwise, and more training than the training pool can do alone. Equal
 * seeds give equal workloads.
 */
public final class Presets {
    /** Demand at its peak, as a share of the capacity of the inference pool. */
    private static final double PEAK_SHARE = 0.68;
    /**
     * Share of the GPU time that training could have, its own and what inference leaves idle, that its jobs ask for.
     */
    private static final double WORK_SHARE = 0.62;

    private static final String WEEK = "week";
    /** The same for jobs that cannot use more GPUs than they ask for, and so wait for one another longer. */
    private static final double RIGID_WORK_SHARE = 0.45;

    private static final int DAY_HOURS = 24;
    private static final double ARRIVAL_HOURS = 14;

    private static final List<Entry> ENTRIES = List.of(
            new Entry("day", "a day of four services that peak at different hours, and a full training queue"),
            new Entry("smooth", "a day of strongly periodic services, as in production language models used by people"),
            new Entry("web", "a day of web-like services: periodic, noisy, with a burst now and then"),
            new Entry("switching", "a day of services whose demand jumps between levels and hardly follows the clock"),
            new Entry(
                    "week",
                    "a week of web-like services, and training in sessions of jobs of which many fail, as Philly's"),
            new Entry(HeteroPreset.NAME, "a day of training on three kinds of GPU: T4, RTX 6000 and A100"),
            new Entry(TeamsPreset.NAME, "a day of training of teams with queues, priorities, deadlines and gangs"),
            new Entry(
                    LlmPreset.NAME,
                    "a day of language models whose replicas have 1, 2, 4 and 8 GPUs, and a full training queue"));

    private Presets() {}

    /** A preset in one line. */
    public record Entry(String name, String summary) {}

    private record Recipe(
            String service,
            DemandShape shape,
            double share,
            double capacityPerSecond,
            double secondsPerRequest,
            int sloMillis,
            int warmUpSeconds) {}

    public static List<Entry> all() {
        return ENTRIES;
    }

    public static boolean has(String name) {
        return ENTRIES.stream().anyMatch(entry -> entry.name().equals(name));
    }

    /**
     * How many of some nodes have each product in a preset; empty if all are alike.
     *
     * @throws IllegalArgumentException if the preset needs more nodes
     */
    public static Map<SimulatedGpu, Integer> kinds(String name, int nodes) {
        return name.equals(HeteroPreset.NAME) ? HeteroPreset.kinds(nodes) : Map.of();
    }

    /** The racks and NVLink domains of the nodes that a preset is meant for. */
    public static SimulatedTopology topology(String name) {
        return name.equals(TeamsPreset.NAME) ? TeamsPreset.TOPOLOGY : SimulatedTopology.NONE;
    }

    /**
     * The workload of a preset.
     *
     * @throws IllegalArgumentException when there is no such preset; the message names those there are
     */
    public static Workload create(String name, Scene scene) {
        SplittableRandom chance = new SplittableRandom(scene.seed() * 31 + name.hashCode());
        if (name.equals(HeteroPreset.NAME)) {
            return HeteroPreset.create(scene, chance);
        }
        if (name.equals(TeamsPreset.NAME)) {
            return TeamsPreset.create(scene, chance);
        }
        if (name.equals(LlmPreset.NAME)) {
            return LlmPreset.create(scene, chance);
        }
        List<Recipe> recipes = switch (name) {
            case "day" ->
                List.of(
                        recipe("chat", DemandShape.smooth(15), .4, 1),
                        recipe("ranking", DemandShape.web(20), .25, 2),
                        recipe("vision", DemandShape.smooth(10.5), .2, 3),
                        recipe("embedding", DemandShape.switching(3), .15, 4));
            case "smooth" -> three(DemandShape::smooth);
            case "web", WEEK -> three(DemandShape::web);
            case "switching" -> three(DemandShape::switching);
            default ->
                throw new IllegalArgumentException("there is no preset '%s'; presets are %s"
                        .formatted(name, ENTRIES.stream().map(Entry::name).toList()));
        };
        int days = name.equals(WEEK) ? 7 : 1;
        List<ServiceLoad> loads = loads(recipes, scene, days, chance.split());
        double idleGpuHours = idleGpuHours(loads, scene, days);
        double possible = scene.trainingGpus() * (double) DAY_HOURS * days + idleGpuHours;
        if (name.equals(WEEK)) {
            double asked = RIGID_WORK_SHARE * possible;
            return new Workload(
                    name, scene.start(), new SessionGenerator(scene, chance.split()).generate(days, asked), loads);
        }
        double gpuHours = WORK_SHARE * possible;
        int jobs = Math.min(80, Math.max(40, 24 + scene.trainingGpus()));
        List<TrainingTask> tasks = new TrainingGenerator(scene, chance.split()).generate(jobs, ARRIVAL_HOURS, gpuHours);
        return new Workload(name, scene.start(), tasks, loads);
    }

    private static List<Recipe> three(DoubleFunction<DemandShape> shape) {
        return List.of(
                recipe("chat", shape.apply(15), .45, 1),
                recipe("ranking", shape.apply(20), .35, 2),
                recipe("vision", shape.apply(9), .2, 3));
    }

    private static Recipe recipe(String service, DemandShape shape, double share, int kind) {
        return switch (kind) {
            case 1 -> new Recipe(service, shape, share, 3, .9, 5000, 20);
            case 2 -> new Recipe(service, shape, share, 40, .03, 1000, 8);
            case 3 -> new Recipe(service, shape, share, 25, .06, 1000, 10);
            default -> new Recipe(service, shape, share, 15, .12, 2000, 12);
        };
    }

    private static List<ServiceLoad> loads(List<Recipe> recipes, Scene scene, int days, SplittableRandom chance) {
        List<List<Double>> shapes = new ArrayList<>();
        for (Recipe recipe : recipes) {
            shapes.add(recipe.shape().generate(days, chance.split()));
        }
        double peak = 0;
        for (int step = 0; step < shapes.get(0).size(); step++) {
            double sum = 0;
            for (int i = 0; i < recipes.size(); i++) {
                sum += recipes.get(i).share() * shapes.get(i).get(step);
            }
            peak = Math.max(peak, sum);
        }
        double replicas = PEAK_SHARE * scene.inferenceGpus() / peak;
        List<ServiceLoad> loads = new ArrayList<>();
        for (int i = 0; i < recipes.size(); i++) {
            Recipe recipe = recipes.get(i);
            double top = replicas * recipe.share() * recipe.capacityPerSecond();
            List<Double> rates =
                    shapes.get(i).stream().map(relative -> relative * top).toList();
            loads.add(new ServiceLoad(
                    spec(recipe, scene),
                    new Demand.Rates(
                            scene.start(),
                            Duration.ofSeconds(DemandShape.STEP_SECONDS),
                            rates,
                            .002,
                            recipe.secondsPerRequest())));
        }
        return loads;
    }

    private static InferenceService spec(Recipe recipe, Scene scene) {
        return new InferenceService(
                new ServiceId(recipe.service()),
                scene.domain(),
                scene.start(),
                List.of(recipe.service()),
                Duration.ofMillis(recipe.sloMillis()),
                recipe.capacityPerSecond(),
                Optional.empty(),
                1,
                Duration.ofSeconds(recipe.warmUpSeconds()));
    }

    private static double idleGpuHours(List<ServiceLoad> loads, Scene scene, int days) {
        double busy = 0;
        for (ServiceLoad load : loads) {
            if (load.demand() instanceof Demand.Rates rates) {
                busy += days * DAY_HOURS * rates.mean() / load.service().replicaCapacityPerSecond();
            }
        }
        return Math.max(0, days * DAY_HOURS * (double) scene.inferenceGpus() - busy);
    }
}
