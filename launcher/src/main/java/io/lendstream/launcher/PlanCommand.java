package io.lendstream.launcher;

import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.CommandOutput;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.text.Printable;
import io.lendstream.simulator.batching.LatencyTable;
import io.lendstream.simulator.batching.LatencyTables;
import io.lendstream.simulator.batching.PlanStudy;
import io.lendstream.simulator.batching.ServiceLine;
import io.lendstream.simulator.results.PlanFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Batches, buckets and MIG instances for a set of services. */
@Command(
        name = "plan",
        description = {
            "Plan on which MIG instances services run and in what batches, so that 99 of 100 requests are in time on as few GPUs "
                    + "as can be.",
            "The plan is printed beside what no plan can do without and what simpler ways need, and is then played with what "
                    + "batches really take."
        },
        customSynopsis = "lendstream plan --profiles F --services F --gpu A100-80GB --out DIR [OPTIONS]",
        footer = {
            "Example: lendstream plan --profiles profiles.csv --services services.csv \\",
            "             --gpu A100-80GB --probes 5 --out out/plan",
            "profiles.csv: model,profile,batch,inputSize,latencyMs (none: out of memory)",
            "services.csv: service,model,ratePerSecond,sloMs[,sizes][,cv2]"
        })
final class PlanCommand implements Callable<Integer> {
    private static final int MOST_SEEDS = 100;
    private static final int MOST_PROBES = 10_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private PlanOptions options = new PlanOptions();

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Where plan.json is written.")
    private Path out = Path.of("");

    private final CommandOutput output =
            new CommandOutput(() -> spec.commandLine().getOut());

    /** The services to plan for, and the settings of the planner. */
    static final class PlanOptions {
        @Option(
                names = "--profiles",
                paramLabel = "F",
                required = true,
                description = "Measured latencies: a CSV, or a directory of tables in ParvaGPU's or MIGPerf's format.")
        private Path profiles = Path.of("");

        @Option(
                names = "--services",
                paramLabel = "F",
                required = true,
                description = "Services: a CSV with a line each; sizes names a file of inputSize,weight.")
        private Path services = Path.of("");

        @Option(
                names = "--gpu",
                paramLabel = "KIND",
                required = true,
                description = "Kind of GPU on which latencies were measured and services will run, such as A100-80GB.")
        private String gpu = "";

        @Option(
                names = "--probes",
                paramLabel = "N",
                description =
                        "Let the planner see no more than N measurements of each model, of its own choosing. Default: all.")
        private Optional<Integer> probes = Optional.empty();

        @Option(
                names = "--known",
                paramLabel = "F",
                description =
                        "Latencies of models that were measured before, from which --probes learns what to expect of others. Default: none.")
        private Optional<Path> known = Optional.empty();

        @Option(
                names = "--margin",
                paramLabel = "M",
                defaultValue = "0.05",
                description =
                        "Plan with batches that take longer by this share; with --probes by more where little is known. Default: ${DEFAULT-VALUE}.")
        private double margin;

        @Option(
                names = "--buckets",
                paramLabel = "K",
                description = "Buckets of input sizes. Default: as many as are worth it.")
        private Optional<Integer> buckets = Optional.empty();

        @Option(
                names = "--play",
                paramLabel = "SEEDS",
                defaultValue = "5",
                description = "How often each instance is played; 0 for not at all. Default: ${DEFAULT-VALUE}.")
        private int seeds;

        @Option(
                names = "--requests",
                paramLabel = "N",
                defaultValue = "100000",
                description = "Requests played on an instance each time. Default: ${DEFAULT-VALUE}.")
        private int requests;

        @Option(
                names = "--seed",
                paramLabel = "S",
                defaultValue = "1",
                description = "Seed of the search for better plans. Default: ${DEFAULT-VALUE}.")
        private long seed;

        private PlanStudy.Settings settings() {
            probes.ifPresent(number -> Bounds.check("--probes", number, 1, MOST_PROBES));
            buckets.ifPresent(number -> Bounds.check("--buckets", number, 1, 64));
            Bounds.check("--play", seeds, 0, MOST_SEEDS);
            Bounds.check("--requests", requests, 1_000, 100_000_000);
            if (!(margin >= 0 && margin <= 1)) {
                throw UserError.badUsage("--margin is %s, but must be from 0 to 1; 0.05 plans with batches 5 %% longer."
                        .formatted(margin));
            }
            return new PlanStudy.Settings(optional(probes), margin, optional(buckets), seeds, requests, seed);
        }

        private static OptionalInt optional(Optional<Integer> value) {
            return value.map(OptionalInt::of).orElse(OptionalInt.empty());
        }

        private MigGpu gpu() {
            return MigGpu.named(gpu)
                    .orElseThrow(() -> UserError.badUsage("--gpu is '%s', but must be one of %s."
                            .formatted(
                                    gpu,
                                    MigGpu.KNOWN.stream().map(MigGpu::model).collect(Collectors.joining(", ")))));
        }

        private PlanStudy study() {
            PlanStudy.Settings settings = settings();
            MigGpu whole = gpu();
            try {
                Map<String, LatencyTable> tables = new TreeMap<>();
                LatencyTables.read(profiles, whole).forEach(table -> tables.put(table.model(), table));
                Set<MigProfile> measured = tables.values().stream()
                        .flatMap(table -> table.rows().stream())
                        .map(LatencyTable.Row::profile)
                        .collect(Collectors.toSet());
                List<ServiceLine> lines = ServiceLine.read(services);
                for (ServiceLine line : lines) {
                    if (!tables.containsKey(line.model())) {
                        throw UserError.badUsage("service %s of %s has the model '%s', but %s has only %s."
                                .formatted(
                                        line.service(),
                                        services,
                                        line.model(),
                                        profiles,
                                        String.join(", ", tables.keySet())));
                    }
                }
                return new PlanStudy(
                        whole.only(measured::contains),
                        tables,
                        known.map(place -> LatencyTables.read(place, whole)).orElse(List.of()),
                        lines,
                        settings);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    public Integer call() {
        PlanStudy study = options.study();
        Bounds.checkOut(out);
        PlanStudy.Result result;
        try {
            result = study.run(output::progress);
        } catch (IllegalArgumentException e) {
            throw UserError.failed(e.getMessage() + "; give it a longer sloMs or more probes, or leave it out.");
        }
        Path file = PlanFile.write(out, result, study.lines());
        print(result, study.settings());
        output.say("written to " + file);
        return 0;
    }

    private void print(PlanStudy.Result result, PlanStudy.Settings settings) {
        PrintWriter out = spec.commandLine().getOut();
        printServices(result, out);
        printComparison(result, out);
        if (!result.played().isEmpty()) {
            double worst = result.worst(result.played());
            out.printf(
                    "played %s with %d requests an instance: p99 at most %.2f of the objective%s%n",
                    settings.seeds() == 1 ? "once" : settings.seeds() + " times",
                    settings.requests(),
                    worst,
                    worst > 1 ? ": TOO LATE" : "");
        }
        if (result.probesUsed() > 0) {
            out.printf("probes: %d%n", result.probesUsed());
        }
        out.printf("%.0f ms for capacities, %.0f ms for the plan%n", result.capacityMillis(), result.planMillis());
    }

    private static void printServices(PlanStudy.Result result, PrintWriter out) {
        BatchPlan plan = result.plan();
        boolean played = !result.played().isEmpty();
        double[] capacities = plan.packing()
                .capacities(
                        plan.services().stream().map(ServiceCapacity::demand).toList());
        out.printf(
                "%-24s %10s %10s %10s %10s%s  instances%n",
                "service",
                "rate/s",
                "capacity/s",
                "SLO ms",
                "p99 ms",
                played ? String.format(" %10s", "played ms") : "");
        for (int i = 0; i < plan.services().size(); i++) {
            ServiceCapacity service = plan.services().get(i);
            double slo = service.service().sloMillis();
            out.println(Printable.line("%-24s %10.1f %10.1f %10.1f %10.1f%s  %s"
                    .formatted(
                            service.service().name(),
                            service.service().ratePerSecond(),
                            capacities[i],
                            slo,
                            slo * result.worst(i, result.expected()),
                            played ? String.format(" %10.1f", slo * result.worst(i, result.played())) : "",
                            instances(plan, i))));
        }
    }

    /** The plan in all, beside its bounds and simpler ways. */
    private static void printComparison(PlanStudy.Result result, PrintWriter out) {
        BatchPlan plan = result.plan();
        PlanStudy.Comparison others = result.comparison();
        out.printf(
                "%d GPUs, %d of %d slices in use; no plan needs fewer than %d (by linear programming %.2f, by volume %.2f)%n",
                plan.gpus(),
                plan.packing().slices(),
                plan.gpus() * plan.gpu().computeSlices(),
                plan.bounds().gpus(),
                plan.bounds().linear(),
                plan.bounds().volume());
        others.migOff()
                .ifPresent(gpus -> out.printf(
                        "without MIG, a service a GPU: %d GPUs, of which the plan saves %.0f %%; %.2f if services could share GPUs without loss%n",
                        gpus,
                        100 - 100.0 * plan.gpus() / gpus,
                        others.migOffFractional().orElseThrow()));
        others.uniform().forEach((profile, gpus) -> out.printf("all %s: %d GPUs%n", profile, gpus));
        out.printf(
                "batches of half the objective: %d GPUs%s%n",
                others.halfObjective(),
                !result.played().isEmpty()
                        ? ", and a p99 of up to %.2f of the objective".formatted(others.halfObjectiveWorst())
                        : "");
    }

    /** Such as 2 x 1g.10gb + 3g.40gb. */
    private static String instances(BatchPlan plan, int service) {
        Map<String, Long> counts = plan.instances().stream()
                .filter(instance -> instance.service() == service)
                .collect(Collectors.groupingBy(
                        instance -> instance.place().profile().name(), TreeMap::new, Collectors.counting()));
        return counts.entrySet().stream()
                .map(entry -> (entry.getValue() > 1 ? entry.getValue() + " x " : "") + entry.getKey())
                .collect(Collectors.joining(" + "));
    }
}
