package io.lendstream.simulator.report;

import io.lendstream.simulator.report.ReportedRun.Training;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Everything that a report shows about one run, or about several that are compared.
 *
 * @param parameters what the runs have in common, in the order in which it is shown
 * @param runs the run that the report is about first
 * @param anchors what the runs are measured against, where that was played
 */
public record RunFacts(String title, List<Parameter> parameters, List<ReportedRun> runs, Optional<Anchors> anchors) {
    public RunFacts {
        parameters = List.copyOf(parameters);
        runs = List.copyOf(runs);
    }

    public RunFacts(String title, List<Parameter> parameters, List<ReportedRun> runs) {
        this(title, parameters, runs, Optional.empty());
    }

    /** The runs, and those of the anchors that are none of them. */
    public List<ReportedRun> shown() {
        return Stream.concat(runs.stream(), anchors.stream().flatMap(Anchors::runs))
                .distinct()
                .toList();
    }

    /** The run that others are measured against: the floor, or the first without lending where there is one with it too. */
    public Optional<ReportedRun> baseline() {
        return anchors.map(Anchors::floor).or(this::firstWithoutLending);
    }

    private Optional<ReportedRun> firstWithoutLending() {
        boolean somebodyLends = runs.stream().anyMatch(ReportedRun::lending);
        return runs.stream().filter(run -> somebodyLends && !run.lending()).findFirst();
    }

    /** The run that the report is about: the first with lending, else the first. */
    public Optional<ReportedRun> subject() {
        return runs.stream()
                .filter(ReportedRun::lending)
                .findFirst()
                .or(() -> runs.stream().findFirst());
    }

    /**
     * The same input on the same cluster at its worst and at its best: what a run is worth lies between them.
     *
     * @param floor without lending
     * @param ceiling with a lender who knows how much work jobs have before them
     */
    public record Anchors(ReportedRun floor, ReportedRun ceiling) {
        Stream<ReportedRun> runs() {
            return Stream.of(floor, ceiling);
        }

        /** The fraction by which jobs took less time than on the floor; below 0 where they took more. */
        public Optional<Double> shorterThanFloor(Training run) {
            return allDone(run, floor.training())
                    ? fraction(won(run), floor.training().meanSeconds().orElse(0.0))
                    : Optional.empty();
        }

        /** How much of the way from the floor to the ceiling a run came; below 0 or above 1 it lies beyond them. */
        public Optional<Double> gapClosed(Training run) {
            return allDone(run, floor.training(), ceiling.training())
                    ? fraction(won(run), won(ceiling.training()))
                    : Optional.empty();
        }

        /** Averages are of the same jobs only where all of them were done. */
        private static boolean allDone(Training... runs) {
            return Arrays.stream(runs).allMatch(run -> run.completed() == run.submitted());
        }

        private double won(Training run) {
            return floor.training().meanSeconds().orElse(0.0)
                    - run.meanSeconds().orElse(0.0);
        }

        private static Optional<Double> fraction(double part, double whole) {
            return whole > 0 ? Optional.of(part / whole) : Optional.empty();
        }
    }

    /** A setting of the runs, as it is to be shown. */
    public record Parameter(String name, String value) {}
}
