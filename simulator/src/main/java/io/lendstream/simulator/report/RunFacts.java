package io.lendstream.simulator.report;

import io.lendstream.simulator.report.ReportedRun.Training;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The contents of a report about one run, or about several that are compared.
 *
 * @param parameters what the runs have in common, in the order in which it is shown
 * @param runs the run that the report is about first
 * @param references the two runs for comparison, if they were played
 * @param remarks warnings and notes
 */
public record RunFacts(
        String title,
        List<Parameter> parameters,
        List<ReportedRun> runs,
        Optional<References> references,
        Remarks remarks) {
    public RunFacts {
        parameters = List.copyOf(parameters);
        runs = List.copyOf(runs);
    }

    public RunFacts(String title, List<Parameter> parameters, List<ReportedRun> runs) {
        this(title, parameters, runs, Optional.empty());
    }

    public RunFacts(String title, List<Parameter> parameters, List<ReportedRun> runs, Optional<References> references) {
        this(title, parameters, runs, references, Remarks.NONE);
    }

    /** The runs, and the references that are not among them. */
    public List<ReportedRun> shown() {
        return Stream.concat(runs.stream(), references.stream().flatMap(References::runs))
                .distinct()
                .toList();
    }

    /** The no-lending baseline, or the first run without lending where another run lends. */
    public Optional<ReportedRun> baseline() {
        return references.map(References::baseline).or(this::firstWithoutLending);
    }

    private Optional<ReportedRun> firstWithoutLending() {
        boolean anyLends = runs.stream().anyMatch(ReportedRun::lending);
        return runs.stream().filter(run -> anyLends && !run.lending()).findFirst();
    }

    /** The run that the report is about: the first with lending, else the first. */
    public Optional<ReportedRun> subject() {
        return runs.stream()
                .filter(ReportedRun::lending)
                .findFirst()
                .or(() -> runs.stream().findFirst());
    }

    /**
     * The two runs for comparison, with the same input on the same cluster.
     *
     * @param baseline the no-lending baseline
     * @param oracle a policy with lending that knows how much work jobs have left (clairvoyant)
     * @param lends whether there are inference GPUs to lend; if not, there is no gain of lending to have a share of
     * @param ofSeveralKinds whether there are several kinds of GPU, among which the oracle does not choose
     */
    public record References(ReportedRun baseline, ReportedRun oracle, boolean lends, boolean ofSeveralKinds) {
        /** The possible gain below which a share of it is noise, and is not given. */
        public static final double LEAST_POSSIBLE_GAIN = 0.01;

        /** References on GPUs of one kind, some of which may be lent. */
        public References(ReportedRun baseline, ReportedRun oracle) {
            this(baseline, oracle, true, false);
        }

        /** How the name of the baseline is introduced. */
        public String ofBaseline() {
            return baseline.lending() ? "baseline: " : "no-lending baseline: ";
        }

        /** How the name of the oracle is introduced. */
        public String ofOracle() {
            return ofSeveralKinds ? "oracle without choice of kinds: " : "oracle: ";
        }

        Stream<ReportedRun> runs() {
            return Stream.of(baseline, oracle);
        }

        /** The fraction by which jobs took less time than in the baseline; below 0 where they took more. */
        public Optional<Double> gain(Training run) {
            return allDone(run, baseline.training())
                    ? fraction(won(run), baseline.training().meanSeconds().orElse(0.0))
                    : Optional.empty();
        }

        /** The gain of the oracle. */
        public Optional<Double> possibleGain() {
            return gain(oracle.training());
        }

        /** The gain of a run over the gain of the oracle; empty where the possible gain is too small for a share. */
        public Optional<Double> shareOfPossibleGain(Training run) {
            return lends
                            && allDone(run, baseline.training(), oracle.training())
                            && possibleGain()
                                    .filter(possible -> possible >= LEAST_POSSIBLE_GAIN)
                                    .isPresent()
                    ? fraction(won(run), won(oracle.training()))
                    : Optional.empty();
        }

        /** Averages are of the same jobs only where all of them were done. */
        private static boolean allDone(Training... runs) {
            return Arrays.stream(runs).allMatch(run -> run.completed() == run.submitted());
        }

        private double won(Training run) {
            return baseline.training().meanSeconds().orElse(0.0)
                    - run.meanSeconds().orElse(0.0);
        }

        private static Optional<Double> fraction(double part, double whole) {
            return whole > 0 ? Optional.of(part / whole) : Optional.empty();
        }
    }

    /** A setting of the runs, as it is to be shown. */
    public record Parameter(String name, String value) {}
}
