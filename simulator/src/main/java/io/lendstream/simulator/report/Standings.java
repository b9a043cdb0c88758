package io.lendstream.simulator.report;

import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.Anchors;
import io.lendstream.simulator.report.Text.DurationUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Runs between their floor and their ceiling: the rows of one table, for terminals and for the page. */
public final class Standings {
    static final List<String> COLUMNS =
            List.of("", "jobs done", "average JCT", "shorter than floor", "gap closed", "requests within SLO");

    private static final int GAP = 3;

    private Standings() {}

    /** A cell for each of {@link #COLUMNS}, from the floor up. */
    static List<List<String>> rows(RunFacts facts) {
        Optional<ReportedRun> floor = facts.anchors().map(Anchors::floor);
        Optional<ReportedRun> ceiling = facts.anchors().map(Anchors::ceiling);
        List<List<String>> rows = new ArrayList<>();
        floor.ifPresent(run -> rows.add(row(facts, "floor: ", run)));
        facts.runs().stream()
                .filter(run ->
                        Stream.of(floor, ceiling).flatMap(Optional::stream).noneMatch(run::equals))
                .forEach(run -> rows.add(row(facts, "", run)));
        ceiling.ifPresent(run -> rows.add(row(facts, "ceiling: ", run)));
        return rows;
    }

    private static List<String> row(RunFacts facts, String role, ReportedRun run) {
        Training training = run.training();
        return List.of(
                role + run.name(),
                "%s of %s".formatted(Text.number(training.completed()), Text.number(training.submitted())),
                training.meanSeconds()
                        .map(mean -> Text.duration(mean, DurationUnit.SECONDS))
                        .orElse(Text.NOTHING),
                share(facts, training, Anchors::shorterThanFloor),
                share(facts, training, Anchors::gapClosed),
                run.inference().sloAttainment().map(Text::percent).orElse(Text.NOTHING));
    }

    private static String share(
            RunFacts facts, Training training, BiFunction<Anchors, Training, Optional<Double>> share) {
        return facts.anchors()
                .flatMap(anchors -> share.apply(anchors, training))
                .map(Text::percent)
                .orElse(Text.NOTHING);
    }

    /** The table in characters, with aligned columns. */
    public static List<String> lines(RunFacts facts) {
        List<List<String>> table = new ArrayList<>(List.of(COLUMNS));
        table.addAll(rows(facts));
        int[] widths = IntStream.range(0, COLUMNS.size())
                .map(column -> table.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        return table.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder(row.get(0))
                .append(" ".repeat(widths[0] - row.get(0).length()));
        for (int column = 1; column < widths.length; column++) {
            line.append(" ".repeat(GAP + widths[column] - row.get(column).length()))
                    .append(row.get(column));
        }
        return line.toString();
    }
}
