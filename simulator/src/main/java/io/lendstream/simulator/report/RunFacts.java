package io.lendstream.simulator.report;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Everything that a report shows about one run, or about several that are compared.
 *
 * @param parameters what the runs have in common, in the order in which it is shown
 * @param runs the run that the report is about first
 * @param anchors what the runs are measured against, where that was played
 */
public record RunFacts(String title, List<Parameter> parameters, List<Run> runs, Optional<Anchors> anchors) {
    public RunFacts {
        parameters = List.copyOf(parameters);
        runs = List.copyOf(runs);
    }

    public RunFacts(String title, List<Parameter> parameters, List<Run> runs) {
        this(title, parameters, runs, Optional.empty());
    }

    /** The runs, and those of the anchors that are none of them. */
    public List<Run> shown() {
        return Stream.concat(runs.stream(), anchors.stream().flatMap(Anchors::runs))
                .distinct()
                .toList();
    }

    /** The run that others are measured against: the floor, or the first without lending where there is one with it too. */
    public Optional<Run> baseline() {
        return anchors.map(Anchors::floor).or(this::firstWithoutLending);
    }

    private Optional<Run> firstWithoutLending() {
        boolean somebodyLends = runs.stream().anyMatch(Run::lending);
        return runs.stream().filter(run -> somebodyLends && !run.lending()).findFirst();
    }

    /** The run that the report is about: the first with lending, else the first. */
    public Optional<Run> subject() {
        return runs.stream()
                .filter(Run::lending)
                .findFirst()
                .or(() -> runs.stream().findFirst());
    }

    /**
     * The same input on the same cluster at its worst and at its best: what a run is worth lies between them.
     *
     * @param floor without lending
     * @param ceiling with a lender who knows how much work jobs have before them
     */
    public record Anchors(Run floor, Run ceiling) {
        Stream<Run> runs() {
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

    /**
     * One run.
     *
     * @param name what tells it from the others: {@code lendstream, lending on}
     * @param from virtual time of the first record
     * @param to virtual time of the last record
     * @param sampleStep length of the bins that all its time series are cut into
     * @param owners GPUs by owner over time; empty where only figures are known
     * @param services the busiest first
     * @param servicesInAll how many services were seen, those not followed in detail included
     * @param verdict of the history checker, where it was asked
     * @param complete whether the workload was played to its end
     */
    public record Run(
            String name,
            boolean lending,
            Instant from,
            Instant to,
            Duration sampleStep,
            List<OwnerSample> owners,
            List<ServiceFacts> services,
            int servicesInAll,
            Training training,
            Inference inference,
            Loans loans,
            DecisionFacts decisions,
            Optional<Verdict> verdict,
            boolean complete) {
        public Run {
            owners = List.copyOf(owners);
            services = List.copyOf(services);
        }

        /** A run of which only figures are known. */
        public static Run ofFigures(
                String name, boolean lending, Training training, Inference inference, boolean complete) {
            return new Run(
                    name,
                    lending,
                    Instant.EPOCH,
                    Instant.EPOCH,
                    Duration.ofSeconds(1),
                    List.of(),
                    List.of(),
                    0,
                    training,
                    inference,
                    Loans.NONE,
                    DecisionFacts.NONE,
                    Optional.empty(),
                    complete);
        }

        /**
         * The same with what somebody who knows the truth says of its jobs and requests.
         *
         * @param whole whether the workload was played to its end
         */
        public Run withTruth(Training jobs, Inference requests, boolean whole) {
            return new Run(
                    name,
                    lending,
                    from,
                    to,
                    sampleStep,
                    owners,
                    services,
                    servicesInAll,
                    jobs,
                    requests,
                    loans,
                    decisions,
                    verdict,
                    whole);
        }

        public Run withVerdict(Verdict judged) {
            return new Run(
                    name,
                    lending,
                    from,
                    to,
                    sampleStep,
                    owners,
                    services,
                    servicesInAll,
                    training,
                    inference,
                    loans,
                    decisions,
                    Optional.of(judged),
                    complete);
        }
    }

    /** Mean number of GPUs of each owner group over one bin of time, which begins at {@code at}. */
    public record OwnerSample(Instant at, Map<OwnerGroup, Double> gpus) {
        public OwnerSample {
            Map<OwnerGroup, Double> copy = new EnumMap<>(OwnerGroup.class);
            copy.putAll(gpus);
            gpus = Collections.unmodifiableMap(copy);
        }

        public double of(OwnerGroup group) {
            return gpus.getOrDefault(group, 0.0);
        }
    }

    /** Mean and peak of a quantity over one bin of time, which begins at {@code at}. */
    public record Point(Instant at, double mean, double peak) {}

    /** What had been expected of one bin of time, some while before: greatest forecasts, in requests per second. */
    public record ForecastPoint(Instant at, double p50, double p99) {}

    /**
     * One inference service over time.
     *
     * @param requests offered in all
     * @param replicaCapacityPerSecond requests that one replica answers within the SLO
     * @param forecastLead how long before the end of the step that they are about the forecasts had been issued
     * @param demand requests offered per second
     * @param replicas GPUs that served it
     */
    public record ServiceFacts(
            ServiceId service,
            long requests,
            Optional<Double> replicaCapacityPerSecond,
            Optional<Duration> forecastLead,
            List<Point> demand,
            List<ForecastPoint> forecast,
            List<Point> replicas) {
        public ServiceFacts {
            demand = List.copyOf(demand);
            forecast = List.copyOf(forecast);
            replicas = List.copyOf(replicas);
        }
    }

    /**
     * How training jobs fared.
     *
     * @param submitted jobs seen
     * @param completed jobs finished
     * @param completionSeconds time from submission to completion of each finished job, increasing
     * @param restarts changes of GPUs that a job made from a checkpoint
     * @param gpuUtilization GPU-seconds spent computing over all GPU-seconds; a fraction
     */
    public record Training(
            int submitted,
            int completed,
            List<Double> completionSeconds,
            Optional<Integer> restarts,
            Optional<Double> gpuUtilization) {
        public Training {
            completionSeconds = completionSeconds.stream().sorted().toList();
        }

        public Optional<Double> meanSeconds() {
            return completionSeconds.isEmpty()
                    ? Optional.empty()
                    : Optional.of(completionSeconds.stream()
                            .mapToDouble(Double::doubleValue)
                            .average()
                            .orElseThrow());
        }

        public Optional<Double> quantileSeconds(double share) {
            return completionSeconds.isEmpty()
                    ? Optional.empty()
                    : Optional.of(Delays.quantile(
                            completionSeconds.stream()
                                    .mapToDouble(Double::doubleValue)
                                    .toArray(),
                            share));
        }
    }

    /**
     * How requests fared.
     *
     * @param requests offered in all
     * @param coldStarts requests that waited for a replica to start
     * @param startDelay wait for a GPU
     * @param responseOverhead wait plus cold start
     * @param sloAttainment share of requests answered within their service's SLO; a fraction
     */
    public record Inference(
            long requests,
            Optional<Long> coldStarts,
            Optional<Delays> startDelay,
            Optional<Delays> responseOverhead,
            Optional<Double> sloAttainment) {}

    /**
     * A distribution of delays.
     *
     * @param curve points of the cumulative distribution, increasing; the tail in more detail
     */
    public record Delays(double meanSeconds, double p99Seconds, double maxSeconds, List<CurvePoint> curve) {
        public Delays {
            curve = List.copyOf(curve);
        }

        /** The distribution of these delays; empty where there are none. */
        public static Optional<Delays> of(Collection<Double> seconds) {
            double[] sorted = seconds.stream()
                    .mapToDouble(Double::doubleValue)
                    .filter(Double::isFinite)
                    .sorted()
                    .toArray();
            if (sorted.length == 0) {
                return Optional.empty();
            }
            return Optional.of(new Delays(
                    Arrays.stream(sorted).average().orElseThrow(),
                    quantile(sorted, 0.99),
                    sorted[sorted.length - 1],
                    curve(sorted)));
        }

        private static List<CurvePoint> curve(double[] sorted) {
            List<CurvePoint> points = new ArrayList<>();
            for (int i = 0; i < 90; i++) {
                points.add(new CurvePoint(quantile(sorted, i / 100.0), i / 100.0));
            }
            for (double tail = 0.1; tail >= 1e-4; tail /= 1.15) {
                points.add(new CurvePoint(quantile(sorted, 1 - tail), 1 - tail));
            }
            points.add(new CurvePoint(sorted[sorted.length - 1], 1));
            return points;
        }

        /** A quantile of increasing values, interpolated linearly between neighbours. */
        static double quantile(double[] sorted, double share) {
            double position = share * (sorted.length - 1);
            int below = (int) Math.floor(position);
            int above = Math.min(sorted.length - 1, below + 1);
            return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
        }
    }

    /** The share of requests that were delayed by at most {@code seconds}. */
    public record CurvePoint(double seconds, double share) {}

    /**
     * What was lent.
     *
     * @param gpuHours GPUs lent times hours
     * @param ended loans of one GPU each that have ended
     * @param open GPUs lent at the end
     * @param meanSeconds mean length of those that have ended; 0 where there are none
     * @param longestSeconds length of the longest of them
     * @param turnover GPUs that changed hands over time
     */
    public record Loans(
            double gpuHours, long ended, int open, double meanSeconds, double longestSeconds, List<Turnover> turnover) {
        public static final Loans NONE = new Loans(0, 0, 0, 0, 0, List.of());

        public Loans {
            turnover = List.copyOf(turnover);
        }
    }

    /** GPUs that decisions lent and reclaimed within one bin of time. */
    public record Turnover(Instant at, int lentGpus, int reclaimedGpus) {}

    /**
     * What was decided.
     *
     * @param kinds the most frequent first
     * @param first the earliest decisions
     * @param last the latest decisions that {@code first} does not have
     */
    public record DecisionFacts(
            long total, long advisory, List<KindCount> kinds, List<Decision> first, List<Decision> last) {
        public static final DecisionFacts NONE = new DecisionFacts(0, 0, List.of(), List.of(), List.of());

        public DecisionFacts {
            kinds = List.copyOf(kinds);
            first = List.copyOf(first);
            last = List.copyOf(last);
        }

        /** How many decisions of a kind there were. */
        public long count(String kind) {
            return kinds.stream()
                    .filter(count -> count.kind().equals(kind))
                    .mapToLong(KindCount::decisions)
                    .sum();
        }
    }

    /**
     * Decisions of one kind.
     *
     * @param gpus GPUs that they were about, counted each time
     * @param reasons how often each reason's code was given
     */
    public record KindCount(String kind, long decisions, long gpus, Map<String, Long> reasons) {
        public KindCount {
            reasons = Collections.unmodifiableMap(new TreeMap<>(reasons));
        }
    }
}
