package io.lendstream.simulator.report;

import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.Text.DurationUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/** The gain and the cost of runs beside the references: two tables, for terminals and for the page. */
public final class Standings {
    static final List<String> GAIN = List.of(
            "",
            "jobs done",
            "average JCT",
            "shorter than baseline",
            "share of the possible gain",
            "GPU-hours lent",
            "resizes in place",
            "restarts");
    static final List<String> COST = List.of(
            "",
            "SLO misses",
            "against baseline",
            "error budget of " + SloObjective.written(),
            "cold starts",
            "worst service: its misses");

    private Standings() {}

    /** Both tables in characters, with their notes; the second only if there is any request. */
    public static List<String> lines(RunFacts facts) {
        List<String> lines = new ArrayList<>(TextTable.lines(gainColumns(facts), gain(facts)));
        List<List<String>> cost = cost(facts);
        if (!cost.isEmpty()) {
            lines.add("");
            lines.addAll(TextTable.lines(COST, cost));
        }
        List<String> notes = notes(facts);
        if (!notes.isEmpty()) {
            lines.add("");
            lines.addAll(notes);
        }
        return lines;
    }

    /** Both tables of the page. */
    static String html(RunFacts facts) {
        StringBuilder page = new StringBuilder("<section><h2>Gain and cost</h2>\n");
        page.append(TextTable.html(gainColumns(facts), gain(facts)));
        List<List<String>> cost = cost(facts);
        if (!cost.isEmpty()) {
            page.append(TextTable.html(COST, cost));
        }
        notes(facts).forEach(note -> page.append("<p class=\"note\">%s</p>\n".formatted(Text.escape(note))));
        return page.append("</section>\n").toString();
    }

    /** The runs with their roles, from the baseline to the oracle. */
    private static <T> List<T> table(RunFacts facts, BiFunction<String, ReportedRun, T> row) {
        Optional<ReportedRun> baseline = facts.references().map(References::baseline);
        Optional<ReportedRun> oracle = facts.references().map(References::oracle);
        List<T> rows = new ArrayList<>();
        facts.references()
                .ifPresent(each ->
                        rows.add(row.apply(each.ofBaseline() + each.baseline().name(), each.baseline())));
        facts.runs().stream()
                .filter(run ->
                        Stream.of(baseline, oracle).flatMap(Optional::stream).noneMatch(run::equals))
                .forEach(run -> rows.add(row.apply(run.name(), run)));
        facts.references()
                .ifPresent(each ->
                        rows.add(row.apply(each.ofOracle() + each.oracle().name(), each.oracle())));
        return rows;
    }

    static List<List<String>> gain(RunFacts facts) {
        DurationUnit unit = unit(facts);
        return table(facts, (name, run) -> {
            Training training = run.training();
            List<String> row = new ArrayList<>(List.of(
                    name,
                    "%s of %s".formatted(Text.number(training.completed()), Text.number(training.submitted())),
                    training.meanSeconds()
                            .map(mean -> Text.duration(mean, unit))
                            .orElse(Text.NOTHING),
                    share(facts, training, References::gain),
                    share(facts, training, References::shareOfPossibleGain),
                    Text.number(run.loans().gpuHours()),
                    training.inPlace().map(Text::number).orElse(Text.NOTHING),
                    training.restarts().map(Text::number).orElse(Text.NOTHING)));
            if (hasDeadlines(facts)) {
                row.add(training.deadlines()
                        .map(kept -> "%s of %s"
                                .formatted(
                                        Text.number((long) kept.met()), Text.number((long) kept.met() + kept.missed())))
                        .orElse(Text.NOTHING));
            }
            if (hasQueues(facts)) {
                row.add(longestQueueWait(training));
            }
            return row;
        });
    }

    /** The columns of the first table; some are there only where a job has a deadline, or a queue is declared. */
    static List<String> gainColumns(RunFacts facts) {
        List<String> columns = new ArrayList<>(GAIN);
        if (hasDeadlines(facts)) {
            columns.add("deadlines met");
        }
        if (hasQueues(facts)) {
            columns.add("longest wait for nominal quota");
        }
        return columns;
    }

    private static boolean hasDeadlines(RunFacts facts) {
        return facts.shown().stream().anyMatch(run -> run.training().deadlines().isPresent());
    }

    private static boolean hasQueues(RunFacts facts) {
        return facts.shown().stream()
                .anyMatch(run -> !run.training().queueWaits().isEmpty());
    }

    /** The queue that waited longest: {@code team-b: 35.0 s}. */
    private static String longestQueueWait(Training training) {
        return training.queueWaits().isEmpty()
                ? Text.NOTHING
                : training.queueWaits().stream()
                        .filter(wait -> wait.asks() > 0)
                        .max(Comparator.comparingDouble(QueueWait::longestSeconds))
                        .map(wait -> "%s: %s".formatted(wait.queue(), Text.duration(wait.longestSeconds())))
                        .orElse("none");
    }

    /** The unit of average completion times, by the longest of all runs. */
    static DurationUnit unit(RunFacts facts) {
        return DurationUnit.of(facts.shown().stream()
                .flatMap(run -> run.training().meanSeconds().stream())
                .mapToDouble(Double::doubleValue)
                .filter(Double::isFinite)
                .max()
                .orElse(0));
    }

    private static String share(
            RunFacts facts, Training training, BiFunction<References, Training, Optional<Double>> share) {
        return facts.references()
                .flatMap(references -> share.apply(references, training))
                .map(Text::percent)
                .orElse(Text.NOTHING);
    }

    static List<List<String>> cost(RunFacts facts) {
        if (facts.shown().stream()
                .noneMatch(run -> run.inference().sloAttainment().isPresent())) {
            return List.of();
        }
        Optional<Double> baseline =
                facts.baseline().flatMap(run -> run.inference().comparedMissShare());
        return table(facts, (name, run) -> {
            Inference requests = run.inference();
            return List.of(
                    name,
                    misses(requests),
                    requests.comparedMissShare()
                            .flatMap(share -> baseline.map(without -> against(share, without)))
                            .orElse(Text.NOTHING),
                    budget(requests),
                    requests.coldStarts().map(Text::number).orElse(Text.NOTHING),
                    worst(requests));
        });
    }

    /** SLO misses as a share and a count, with a word if they are a warning or an alarm. */
    static String misses(Inference requests) {
        return requests.sloAttainment()
                .map(attained -> {
                    RunWarning.Level level = SloObjective.level(attained);
                    return "%s%s (%s)"
                            .formatted(
                                    level == RunWarning.Level.NOTE ? "" : level + " ",
                                    Text.percent(1 - attained),
                                    requests.misses().map(Standings::count).orElse(Text.NOTHING));
                })
                .orElse(Text.NOTHING);
    }

    /** The error budget that is used: {@code 110 % used}. */
    static String budget(Inference requests) {
        return requests.sloAttainment()
                .map(attained -> "%s %% used".formatted(count(100 * SloObjective.budgetUsed(attained))))
                .orElse(Text.NOTHING);
    }

    /** How many times the misses of the baseline, with two decimals at most. */
    static String against(double share, double baseline) {
        if (baseline <= 0) {
            return share <= 0 ? "same" : "baseline has none";
        }
        double times = Math.rint(100 * share / baseline) / 100;
        return times == 1 ? "same" : Text.number(times) + " times";
    }

    static String worst(Inference requests) {
        return requests.worstService()
                .map(service -> "%s: %s (%s)"
                        .formatted(service.service(), Text.percent(1 - service.attainment()), count(service.misses())))
                .orElse(Text.NOTHING);
    }

    /** A count that may be of a fluid, rounded. */
    static String count(double number) {
        return Double.isFinite(number) ? Text.number(Math.round(number)) : Text.NOTHING;
    }

    static List<String> notes(RunFacts facts) {
        List<String> notes = new ArrayList<>();
        facts.remarks().baseline().ifPresent(text -> notes.add("Baseline: " + text + "."));
        facts.references()
                .filter(each -> !each.lends())
                .ifPresent(any -> notes.add(
                        "No share of the possible gain (%s): there are no inference GPUs, so nothing can be lent."
                                .formatted(Text.NOTHING)));
        facts.references()
                .filter(References::lends)
                .flatMap(References::possibleGain)
                .filter(possible -> possible < References.LEAST_POSSIBLE_GAIN)
                .ifPresent(possible -> notes.add(
                        "No share of the possible gain (%s): the oracle gains %s over the baseline, less than %s."
                                .formatted(
                                        Text.NOTHING,
                                        Text.percent(possible),
                                        Text.percent(References.LEAST_POSSIBLE_GAIN))));
        if (facts.baseline().flatMap(run -> run.inference().missShare()).isPresent()) {
            notes.add("Every run starts without replicas: the first requests of each service wait for a cold start."
                    + " The baseline has SLO misses from it, too.");
        }
        ownRequests(facts).ifPresent(notes::add);
        if (facts.references().isPresent()) {
            notes.add("Oracle: a clairvoyant policy with lending that knows how much work each job has left."
                    + " It is a policy, not a bound.");
            facts.references()
                    .filter(References::ofSeveralKinds)
                    .ifPresent(any -> notes.add(
                            "The oracle does not choose the kind of GPU of a job, so policies that do may be better."));
        }
        notes.add(
                "Resizes in place keep the processes of a running job (AFE); restarts start it again from a checkpoint.");
        return notes;
    }

    /** What is compared where runs have different numbers of requests. */
    private static Optional<String> ownRequests(RunFacts facts) {
        boolean different = facts.shown().stream()
                        .map(run -> run.inference().requests())
                        .distinct()
                        .count()
                > 1;
        return facts.baseline()
                .filter(any -> different)
                .flatMap(run -> run.inference().own())
                .map(own -> "Load repeats its last day until the last job ends, so longer runs have more requests."
                        + " Misses against the baseline are of the %s requests up to the workload's own end."
                                .formatted(count(own.requests())));
    }
}
