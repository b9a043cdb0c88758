package io.lendstream.simulator.report;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.OwnRequests;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A run, as a report shows it.
 *
 * @param name its name among the runs: {@code lendstream, lending on}
 * @param verdict the verdict of the history checker, if it was asked
 * @param complete whether the workload was played to its end
 */
public record ReportedRun(
        String name,
        boolean lending,
        Period period,
        Course course,
        Figures figures,
        Optional<Verdict> verdict,
        boolean complete) {
    /** A run of which only the figures are known. */
    public static ReportedRun ofFigures(
            String name, boolean lending, Training training, Inference inference, boolean complete) {
        return new ReportedRun(
                name,
                lending,
                new Period(Instant.EPOCH, Instant.EPOCH, Duration.ofSeconds(1)),
                new Course(List.of(), List.of(), 0),
                new Figures(training, inference, Loans.NONE, DecisionFacts.NONE),
                Optional.empty(),
                complete);
    }

    /**
     * The same with the true figures of its jobs and requests.
     *
     * @param whole whether the workload was played to its end
     */
    public ReportedRun withTruth(Training jobs, Inference requests, boolean whole) {
        return new ReportedRun(
                name,
                lending,
                period,
                course,
                new Figures(jobs, requests, figures.loans, figures.decisions),
                verdict,
                whole);
    }

    /** The same with the true GPU-hours of its loans, until the GPUs were released. */
    public ReportedRun withGpuHoursLent(double gpuHours) {
        return new ReportedRun(
                name,
                lending,
                period,
                course,
                new Figures(
                        figures.training, figures.inference, figures.loans.withGpuHours(gpuHours), figures.decisions),
                verdict,
                complete);
    }

    public ReportedRun withName(String other) {
        return new ReportedRun(other, lending, period, course, figures, verdict, complete);
    }

    public ReportedRun withVerdict(Verdict judged) {
        return new ReportedRun(name, lending, period, course, figures, Optional.of(judged), complete);
    }

    public Instant from() {
        return period.from;
    }

    public Instant to() {
        return period.to;
    }

    public Duration sampleStep() {
        return period.sampleStep;
    }

    public List<OwnerSample> owners() {
        return course.owners;
    }

    public List<ServiceFacts> services() {
        return course.services;
    }

    public int servicesInAll() {
        return course.servicesInAll;
    }

    public Training training() {
        return figures.training;
    }

    public Inference inference() {
        return figures.inference;
    }

    public Loans loans() {
        return figures.loans;
    }

    public DecisionFacts decisions() {
        return figures.decisions;
    }

    /**
     * The time of a run.
     *
     * @param from virtual time of the first record
     * @param to virtual time of the last record
     * @param sampleStep length of the bins that all its time series are cut into
     */
    public record Period(Instant from, Instant to, Duration sampleStep) {}

    /**
     * A run over time.
     *
     * @param owners GPUs by owner; empty where only figures are known
     * @param services the busiest first
     * @param servicesInAll how many services were seen, those not followed in detail included
     */
    public record Course(List<OwnerSample> owners, List<ServiceFacts> services, int servicesInAll) {
        public Course {
            owners = List.copyOf(owners);
            services = List.copyOf(services);
        }
    }

    /** A run in figures. */
    public record Figures(Training training, Inference inference, Loans loans, DecisionFacts decisions) {}

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

    /** The greatest forecasts for one bin of time, issued earlier, in requests per second. */
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
     * The results of training jobs.
     *
     * @param submitted jobs seen
     * @param completed jobs finished
     * @param completionSeconds time from submission to completion of each finished job, increasing
     * @param restarts starts of running jobs from a checkpoint: changes of GPUs, crashes and lost GPUs
     * @param inPlace changes of the GPUs of running jobs in place, without a restart
     * @param longestWaitSeconds the longest time from submission to the first start
     * @param deadlines how many deadlines of jobs were met; empty if no job has one, or if that is not known
     * @param gpuUtilization GPU-seconds spent computing over all GPU-seconds until the last job arrives; a fraction
     * @param queueWaits how long each queue waited for its nominal quota; empty without queues, or if not known
     */
    public record Training(
            int submitted,
            int completed,
            List<Double> completionSeconds,
            Optional<Integer> restarts,
            Optional<Integer> inPlace,
            Optional<Double> longestWaitSeconds,
            Optional<KeptDeadlines> deadlines,
            Optional<Double> gpuUtilization,
            List<QueueWait> queueWaits) {
        public Training {
            queueWaits = List.copyOf(queueWaits);
            completionSeconds = completionSeconds.stream().sorted().toList();
        }

        /** Jobs without deadlines and queues. */
        public Training(
                int submitted,
                int completed,
                List<Double> completionSeconds,
                Optional<Integer> restarts,
                Optional<Integer> inPlace,
                Optional<Double> longestWaitSeconds,
                Optional<Double> gpuUtilization) {
            this(
                    submitted,
                    completed,
                    completionSeconds,
                    restarts,
                    inPlace,
                    longestWaitSeconds,
                    Optional.empty(),
                    gpuUtilization,
                    List.of());
        }

        /** Jobs of which changes in place and waits are not known. */
        public Training(
                int submitted,
                int completed,
                List<Double> completionSeconds,
                Optional<Integer> restarts,
                Optional<Double> gpuUtilization) {
            this(submitted, completed, completionSeconds, restarts, Optional.empty(), Optional.empty(), gpuUtilization);
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
     * The results of requests.
     *
     * @param requests offered in all
     * @param coldStarts requests that waited for a replica to start
     * @param startDelay wait for a GPU
     * @param responseOverhead wait plus cold start
     * @param sloAttainment share of requests answered within their service's SLO; a fraction
     * @param services the same for each service; empty where it is not known
     * @param own those up to the workload's own end, which are the same in each run, if they are known
     */
    public record Inference(
            long requests,
            Optional<Long> coldStarts,
            Optional<Delays> startDelay,
            Optional<Delays> responseOverhead,
            Optional<Double> sloAttainment,
            List<ServiceSlo> services,
            Optional<OwnRequests> own) {
        public Inference {
            services = List.copyOf(services);
        }

        /** Requests of which the services are not known. */
        public Inference(
                long requests,
                Optional<Long> coldStarts,
                Optional<Delays> startDelay,
                Optional<Delays> responseOverhead,
                Optional<Double> sloAttainment) {
            this(requests, coldStarts, startDelay, responseOverhead, sloAttainment, List.of(), Optional.empty());
        }

        /** The share of requests that runs are compared by: of the same requests in each run, where these are known. */
        public Optional<Double> comparedMissShare() {
            return sloAttainment.map(attained -> own.map(OwnRequests::missShare).orElse(1 - attained));
        }

        /** Share of requests that were not answered within their SLO. */
        public Optional<Double> missShare() {
            return sloAttainment.map(attained -> 1 - attained);
        }

        /** Requests that were not answered within their SLO. */
        public Optional<Double> misses() {
            return sloAttainment.map(attained -> services.isEmpty()
                    ? (1 - attained) * requests
                    : services.stream().mapToDouble(ServiceSlo::misses).sum());
        }

        public Optional<ServiceSlo> worstService() {
            return ServiceSlo.worst(services);
        }
    }

    /**
     * The loans of a run.
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

        private Loans withGpuHours(double hours) {
            return new Loans(hours, ended, open, meanSeconds, longestSeconds, turnover);
        }
    }

    /** GPUs that decisions lent and reclaimed within one bin of time. */
    public record Turnover(Instant at, int lentGpus, int reclaimedGpus) {}

    /**
     * The decisions of a run.
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
