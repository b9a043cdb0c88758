package io.lendstream.simulator.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchServer;
import io.lendstream.core.batching.Capacity;
import io.lendstream.core.batching.Mix;
import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PackingBounds;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Variable;

/** ParvaGPU's scenarios and measurements are in LENDSTREAM_DATA, or in shared/data beside the project. */
@Tag("long")
class PackingPlannerTest {
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow().plain();
    private static final double MARGIN = 1.05;
    private static final double NOISE = .02;
    private static final int ROUNDS = 400;
    /** What a plan may need for the six scenarios. */
    private static final int[] MOST_GPUS = {2, 3, 5, 7, 15, 19};

    private final Path data = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("mig/parvagpu");

    /** A service with what it really takes, for plans and for playing them. */
    private record Service(Packing.Demand demand, LatencyTable table, double sloMillis) {}

    private final Map<String, Double> known = new HashMap<>();

    private List<Service> scenario(int number, List<LatencyTable> tables) throws IOException {
        String[] slos = Files.readAllLines(data.resolve("SLO/SLO_latency.csv"))
                .get(number)
                .split(",", -1);
        String[] rates = Files.readAllLines(data.resolve("SLO/SLO_req_rate.csv"))
                .get(number)
                .split(",", -1);
        List<Service> services = new ArrayList<>();
        for (int i = 0; i < tables.size(); i++) {
            if (!rates[i].equals("N/A")) {
                double slo = Double.parseDouble(slos[i]);
                LatencyTable table = tables.get(i);
                Map<MigProfile, Double> capacities = new HashMap<>();
                for (MigProfile profile : A100.profiles()) {
                    capacities.put(profile, capacity(table, profile, slo));
                }
                services.add(new Service(
                        new Packing.Demand(table.model(), Double.parseDouble(rates[i]), capacities), table, slo));
            }
        }
        return services;
    }

    private double capacity(LatencyTable table, MigProfile profile, double slo) {
        return known.computeIfAbsent("%s %s %s".formatted(table.model(), profile.name(), slo), key -> {
            BatchLatency truth = new MeasuredLatency(table).on(profile, 1).orElseThrow();
            return Capacity.played(Mix.of(truth.times(MARGIN)), slo, 1, 1, NOISE)
                    .ratePerSecond();
        });
    }

    @Test
    void theScenariosOfParvaGpuNeedFewGpusAndEveryInstanceIsInTime() throws IOException {
        assumeThat(data)
                .as("ParvaGPU's data; set LENDSTREAM_DATA to the directory that has them")
                .exists();
        List<LatencyTable> tables = LatencyTables.read(data.resolve("prof_data"), A100);
        for (int scenario = 0; scenario < MOST_GPUS.length; scenario++) {
            List<Service> services = scenario(scenario, tables);
            List<Packing.Demand> demands =
                    services.stream().map(Service::demand).toList();
            PackingPlanner planner = new PackingPlanner(A100, demands);
            Packing greedy = planner.greedy();
            Packing plan = planner.improved(ROUNDS, 1);
            PackingBounds bounds = PackingBounds.of(A100, demands);
            double worst = worst(plan, services);
            System.out.printf(
                    "plan for scenario %d: %d GPUs (greedy %d), %d slices; no fewer than %d (LP %.2f, volume %.2f); worst p99 %.2f of its objective%n",
                    scenario + 1,
                    plan.gpus().size(),
                    greedy.gpus().size(),
                    plan.slices(),
                    bounds.gpus(),
                    bounds.linear(),
                    bounds.volume(),
                    worst);

            assertThat(greedy.serves(demands, A100)).isTrue();
            assertThat(plan.serves(demands, A100)).isTrue();
            assertThat(plan.gpus().size()).isBetween(bounds.gpus(), MOST_GPUS[scenario]);
            assertThat(worst).as("scenario %d", scenario + 1).isLessThanOrEqualTo(1);
        }
    }

    /** The load of a service is split among its instances by what they can do. */
    private static double worst(Packing plan, List<Service> services) {
        double[] capacities =
                plan.capacities(services.stream().map(Service::demand).toList());
        double worst = 0;
        Map<String, Double> played = new HashMap<>();
        for (Packing.Cut gpu : plan.gpus()) {
            for (int i = 0; i < gpu.profiles().size(); i++) {
                MigProfile profile = gpu.profiles().get(i);
                int index = gpu.services().get(i);
                Service service = services.get(index);
                double rate = service.demand.ratePerSecond()
                        * service.demand.capacities().get(profile)
                        / capacities[index];
                BatchLatency truth =
                        new MeasuredLatency(service.table).on(profile, 1).orElseThrow();
                worst = Math.max(
                        worst,
                        played.computeIfAbsent(
                                index + profile.name(),
                                key -> new BatchServer(Mix.of(truth), NOISE)
                                                .play(rate, 1, 100_000, service.sloMillis, 5)
                                                .p99Millis()
                                        / service.sloMillis));
            }
        }
        return worst;
    }

    @Test
    void isWithinAGpuOfTheSolversPlan() {
        SplittableRandom random = new SplittableRandom(5);
        for (int run = 0; run < 6; run++) {
            List<Packing.Demand> demands = random(random, 2 + random.nextInt(3), 5);
            Packing plan = new PackingPlanner(A100, demands).improved(ROUNDS, 1);
            PackingBounds bounds = PackingBounds.of(A100, demands);
            int best = exact(demands);

            assertThat(plan.serves(demands, A100)).isTrue();
            assertThat(bounds.gpus()).as("run %d", run).isLessThanOrEqualTo(best);
            assertThat(plan.gpus().size()).as("run %d", run).isBetween(best, best + 1);
        }
    }

    @Test
    void hundredsOfServicesTakeLittleMoreThanTheirBound() {
        for (double mostInstances : new double[] {40, 100}) {
            List<Packing.Demand> demands = random(new SplittableRandom(6), 200, mostInstances);

            Packing plan = new PackingPlanner(A100, demands).improved(ROUNDS, 1);
            PackingBounds bounds = PackingBounds.of(A100, demands);

            System.out.printf(
                    "plan for 200 services: %d GPUs, no fewer than %d, by the linear bound %d%n",
                    plan.gpus().size(), bounds.gpus(), bounds.linearGpus());
            assertThat(plan.serves(demands, A100)).isTrue();
            assertThat((double) plan.gpus().size()).isLessThanOrEqualTo(1.002 * bounds.gpus());
            assertThat((double) plan.gpus().size())
                    .as("against linear programming; the more instances a service has, the nearer")
                    .isLessThanOrEqualTo((mostInstances < 100 ? 1.04 : 1.02) * bounds.linearGpus());
        }
    }

    @Test
    void theSameSeedPlansTheSame() {
        List<Packing.Demand> demands = random(new SplittableRandom(7), 6, 8);

        assertThat(new PackingPlanner(A100, demands).improved(50, 3))
                .isEqualTo(new PackingPlanner(A100, demands).improved(50, 3));
    }

    @Test
    void aServiceThatNoInstanceCanServeIsNamed() {
        assertThatThrownBy(() ->
                        new Packing.Demand("chat", 5, Map.of(A100.profiles().get(0), 0.0)))
                .hasMessage("service chat cannot be served on any instance within its objective");
        assertThatThrownBy(() -> new PackingPlanner(A100, List.of())).hasMessageContaining("at least 1 service");
    }

    /**
     * Services whose instances answer a little less than in proportion to their slices, and some of which need large
     * ones.
     */
    private static List<Packing.Demand> random(SplittableRandom random, int services, double mostInstances) {
        List<Packing.Demand> demands = new ArrayList<>();
        for (int i = 0; i < services; i++) {
            double one = 10 * Math.exp(3 * random.nextDouble());
            double exponent = .7 + .35 * random.nextDouble();
            int least = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
            Map<MigProfile, Double> capacities = new HashMap<>();
            for (MigProfile profile : A100.profiles()) {
                if (profile.computeSlices() >= least) {
                    capacities.put(profile, one * Math.pow(profile.computeSlices(), exponent));
                }
            }
            demands.add(new Packing.Demand("s" + i, one * (.2 + mostInstances * random.nextDouble()), capacities));
        }
        return demands;
    }

    /** Fewest GPUs by a mixed-integer solver that others wrote. */
    private static int exact(List<Packing.Demand> demands) {
        ExpressionsBasedModel model = new ExpressionsBasedModel();
        List<List<MigProfile>> cuts = MigLayouts.of(A100).cuts();
        List<Expression> room = new ArrayList<>();
        for (MigProfile profile : A100.profiles()) {
            room.add(model.newExpression(profile.name()).upper(0));
        }
        for (int c = 0; c < cuts.size(); c++) {
            Variable gpus = model.newVariable("cut" + c).lower(0).integer(true).weight(1);
            for (int p = 0; p < room.size(); p++) {
                room.get(p)
                        .set(
                                gpus,
                                -Collections.frequency(
                                        cuts.get(c), A100.profiles().get(p)));
            }
        }
        for (Packing.Demand demand : demands) {
            Expression served = model.newExpression(demand.service()).lower(1);
            for (int p = 0; p < room.size(); p++) {
                double capacity =
                        demand.capacities().getOrDefault(A100.profiles().get(p), 0.0);
                if (capacity > 0) {
                    Variable instances =
                            model.newVariable(demand.service() + p).lower(0).integer(true);
                    served.set(instances, capacity / demand.ratePerSecond());
                    room.get(p).set(instances, 1);
                }
            }
        }
        return (int) Math.round(model.minimise().getValue());
    }
}
