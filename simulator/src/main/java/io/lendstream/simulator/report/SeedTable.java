package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Text.DurationUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleFunction;

/** The table of runs over several seeds, for terminals and for the page. */
public final class SeedTable {
    private static final List<String> COLUMNS = List.of(
            "", "average JCT", "shorter than baseline", "share of the possible gain", "SLO misses", "GPU-hours lent");

    /** With fewer seeds an interval is wide: Student's t with few degrees of freedom. */
    private static final int FEW = 5;

    private SeedTable() {}

    /** The line above the tables of the first seed alone; empty if there is only one. */
    public static Optional<String> heading(SeedFacts facts) {
        int replayed = facts.seeds().size();
        return replayed < 2
                ? Optional.empty()
                : Optional.of(
                        "Seed %d, the first of %s:".formatted(facts.seeds().get(0), Text.plural(replayed, "seed")));
    }

    /** The table in characters, with a title and notes. */
    public static List<String> lines(SeedFacts facts) {
        List<String> lines = new ArrayList<>();
        lines.add(title(facts));
        lines.addAll(TextTable.lines(COLUMNS, rows(facts)));
        lines.addAll(notes(facts));
        return lines;
    }

    static String html(SeedFacts facts) {
        StringBuilder page = new StringBuilder(
                "<section><h2>%s</h2>\n%s".formatted(Text.escape(title(facts)), TextTable.html(COLUMNS, rows(facts))));
        notes(facts).forEach(note -> page.append("<p class=\"note\">%s</p>".formatted(Text.escape(note))));
        return page.append("</section>\n").toString();
    }

    private static String title(SeedFacts facts) {
        int replayed = facts.seeds().size();
        if (facts.failures().isEmpty()) {
            return "Mean over %s: %s".formatted(Text.plural(replayed, "seed"), seeds(facts.seeds()));
        }
        List<String> failures = facts.failures().stream().map(SeedFailure::line).toList();
        return "Mean over %d of %s; %s"
                .formatted(replayed, Text.plural(replayed + failures.size(), "seed"), String.join("; ", failures));
    }

    /** The seeds in words, a range as such. */
    private static String seeds(List<Long> seeds) {
        boolean isRange = seeds.size() > 2
                && seeds.get(seeds.size() - 1) - seeds.get(0) == seeds.size() - 1
                && seeds.stream().sorted().toList().equals(seeds);
        return isRange
                ? "%d to %d".formatted(seeds.get(0), seeds.get(seeds.size() - 1))
                : String.join(", ", seeds.stream().map(String::valueOf).toList());
    }

    private static List<String> notes(SeedFacts facts) {
        List<String> notes = new ArrayList<>();
        notes.add(intervals(facts));
        if (facts.rows().stream().anyMatch(row -> row.unfinished() > 0)) {
            notes.add("An average JCT is the mean over the seeds in which all jobs completed.");
        }
        if (facts.rows().stream().allMatch(row -> row.unfinished() == 0 && !known(row.jctSeconds()))) {
            notes.add("No average JCT (%s): there are no training jobs.".formatted(Text.NOTHING));
        }
        facts.rows().stream()
                .filter(row -> row.unfinished() > 0 && !known(row.jctSeconds()))
                .forEach(row -> notes.add("%s: no average JCT (%s), because some jobs did not complete in any of %s."
                        .formatted(row.name(), Text.NOTHING, Text.plural(row.unfinished(), "seed"))));
        return notes;
    }

    private static String intervals(SeedFacts facts) {
        if (facts.allEqual()) {
            return "All seeds give the same input: nothing in this workload is drawn by the seed, so there is no interval.";
        }
        if (facts.seeds().size() == 1) {
            return "One seed gives no interval; name more of them.";
        }
        String references = facts.rows().stream()
                        .anyMatch(row -> row.gain().filter(SeedTable::known).isPresent())
                ? " The gain is paired with the baseline of the same seed, the share of the possible gain with its oracle."
                : "";
        String few = facts.seeds().size() < FEW ? " With fewer than %d seeds it is wide.".formatted(FEW) : "";
        return "± is half the 95 % confidence interval of the mean over the seeds (Student's t)." + few + references;
    }

    private static boolean known(MeanInterval interval) {
        return interval.size() > 0;
    }

    static List<List<String>> rows(SeedFacts facts) {
        DurationUnit unit = DurationUnit.of(facts.rows().stream()
                .mapToDouble(row -> row.jctSeconds().mean())
                .filter(Double::isFinite)
                .max()
                .orElse(0));
        int seeds = facts.seeds().size();
        boolean plain = facts.allEqual();
        return facts.rows().stream()
                .map(row -> List.of(
                        row.name(),
                        cell(row.jctSeconds(), seeds, plain, value -> Text.number(value / unit.seconds()))
                                + (known(row.jctSeconds()) ? " " + unit.symbol() : ""),
                        percent(row.gain(), seeds, plain),
                        percent(row.shareOfGain(), seeds, plain),
                        percent(Optional.of(row.misses()), seeds, plain),
                        cell(row.gpuHoursLent(), seeds, plain, Text::number)))
                .toList();
    }

    private static String percent(Optional<MeanInterval> share, int seeds, boolean plain) {
        return share.filter(SeedTable::known)
                .map(interval -> cell(interval, seeds, plain, Text::digits) + " %")
                .orElse(Text.NOTHING);
    }

    private static String cell(MeanInterval interval, int seeds, boolean plain, DoubleFunction<String> written) {
        if (!known(interval)) {
            return Text.NOTHING;
        }
        String known = interval.size() < seeds ? "(%d of %d seeds) ".formatted(interval.size(), seeds) : "";
        String spread = plain || !interval.hasInterval() ? "" : " ± " + written.apply(interval.half());
        return known + written.apply(interval.mean()) + spread;
    }
}
