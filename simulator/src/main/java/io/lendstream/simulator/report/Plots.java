package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Charts.Curve;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Which figures a report has, each kind empty where nothing is known of it. */
final class Plots {
    private static final int MOST_SERVICES = 8;

    private Plots() {}

    /** GPUs by owner, a figure a run on the same scales. */
    static List<Drawing> owners(RunFacts facts) {
        List<ReportedRun> runs =
                facts.shown().stream().filter(run -> !run.owners().isEmpty()).toList();
        double longest = runs.stream()
                .mapToDouble(run -> Duration.between(run.from(), run.to()).toMillis() / 1000.0)
                .max()
                .orElse(1);
        double mostGpus = runs.stream()
                .flatMap(run -> run.owners().stream())
                .mapToDouble(Plots::gpus)
                .max()
                .orElse(1);
        return runs.stream().map(run -> Charts.owners(run, longest, mostGpus)).toList();
    }

    private static double gpus(OwnerSample sample) {
        return sample.gpus().values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** How long jobs took. */
    static List<Drawing> training(RunFacts facts) {
        List<Curve> curves = curves(facts, run -> Optional.empty());
        return curves.stream().allMatch(curve -> curve.seconds().isEmpty())
                ? List.of()
                : List.of(Charts.completions(curves));
    }

    /** How long requests waited, and how many got their answer in time. */
    static List<Drawing> inference(RunFacts facts) {
        List<Curve> start = curves(facts, run -> run.inference().startDelay());
        List<Curve> overhead = curves(facts, run -> run.inference().responseOverhead());
        boolean waits = Stream.concat(start.stream(), overhead.stream())
                .anyMatch(curve -> curve.delays().isPresent());
        List<Drawing> figures = new ArrayList<>();
        if (waits) {
            figures.add(Charts.delays("Request start delay", "Wait for a GPU.", start));
            figures.add(Charts.delays("Response overhead", "Wait plus cold start.", overhead));
        }
        if (facts.shown().stream()
                .anyMatch(run -> run.inference().sloAttainment().isPresent())) {
            figures.add(Charts.slo(facts.shown()));
        }
        return figures;
    }

    /** Demand, forecast and replicas of a run's busiest services. */
    static List<Drawing> services(ReportedRun run) {
        return run.services().stream()
                .limit(MOST_SERVICES)
                .map(service -> ServiceChart.of(run, service))
                .toList();
    }

    /** What a run lent. */
    static List<Drawing> loans(ReportedRun run) {
        boolean lent = run.loans().gpuHours() > 0 || !run.loans().turnover().isEmpty();
        return lent ? List.of(LoansChart.of(run)) : List.of();
    }

    private static List<Curve> curves(RunFacts facts, Function<ReportedRun, Optional<Delays>> delays) {
        List<ReportedRun> runs = facts.shown();
        return IntStream.range(0, runs.size())
                .mapToObj(i -> new Curve(
                        runs.get(i).name(),
                        Charts.runStyle(i),
                        runs.get(i).training().completionSeconds().stream()
                                .filter(Double::isFinite)
                                .toList(),
                        delays.apply(runs.get(i))))
                .toList();
    }
}
