package io.lendstream.simulator.results;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Limits;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.OwnRequests;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.report.KeptDeadlines;
import io.lendstream.simulator.report.ServiceSlo;
import io.lendstream.simulator.report.SloObjective;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run in figures. Times of jobs are from submission to completion, of those that completed, and unknown where none
 * did; quantiles interpolate linearly.
 *
 * @param complete whether the workload was played to its end
 * @param gpuHoursRescaling GPU hours that went into starts of jobs and changes of their size
 * @param gpuHoursFirstStarts the part of these that went into first starts; empty with published timing
 * @param queueWaits how long queues waited for their nominal quota, in seconds; empty without queues
 * @param waitsByQueue the same by queue
 */
public record Summary(
        RunIdentity run,
        boolean complete,
        Jobs jobs,
        Requests requests,
        Lending lending,
        double gpuUtilization,
        double gpuHoursRescaling,
        OptionalDouble gpuHoursFirstStarts,
        Optional<Distribution> queueWaits,
        Map<String, Distribution> waitsByQueue,
        double wallSeconds) {

    /**
     * The results of training jobs.
     *
     * @param completed jobs that are over, however they ended
     * @param failed those of them that failed or were killed
     * @param makespanSeconds from the first training arrival to the last completion
     * @param restarts changes of the GPUs of running jobs, those in place included, and crashes
     * @param inPlace changes of GPUs in place
     * @param longestWaitSeconds the longest time from submission to the first start
     * @param deadlines how many deadlines were met; empty if no job has one
     */
    public record Jobs(
            int training,
            int completed,
            int failed,
            Distribution jctSeconds,
            Optional<Double> makespanSeconds,
            int restarts,
            int inPlace,
            Optional<Double> longestWaitSeconds,
            Optional<KeptDeadlines> deadlines) {}

    /**
     * The results of inference requests.
     *
     * @param offered all requests, answered or not
     * @param startDelaySeconds waits of requests for a GPU
     * @param overheadSeconds waits of requests for a GPU and for a replica to come up
     * @param sloAttainment share of all requests that were answered within their service's SLO
     * @param services the same for each service
     * @param own those up to the workload's own end, which are the same in each run
     */
    public record Requests(
            long offered,
            long coldStarts,
            Distribution startDelaySeconds,
            Distribution overheadSeconds,
            Optional<Double> sloAttainment,
            List<ServiceSlo> services,
            OwnRequests own) {
        double misses() {
            return services.stream().mapToDouble(ServiceSlo::misses).sum();
        }
    }

    /**
     * The loans of a run.
     *
     * @param loans decisions that lent GPUs
     * @param reclaims decisions that took GPUs back from jobs that had not ended
     * @param releases decisions that released the GPUs of jobs that ended
     */
    public record Lending(long loans, long reclaims, long releases, double gpuHours) {}

    /** The figures of a run. */
    public static Summary of(RunOutcome outcome) {
        WorldResults results = outcome.results();
        Distribution jct = new Distribution();
        results.jobs().forEach(job -> job.completionTime().ifPresent(time -> jct.add(Limits.millis(time) / 1000.0)));
        Distribution delays = new Distribution();
        Distribution overheads = new Distribution();
        double offered = 0;
        double inTime = 0;
        long coldStarts = 0;
        List<ServiceSlo> services = new ArrayList<>();
        OwnRequests own = OwnRequests.NONE;
        for (ServiceResult service : results.services()) {
            delays.addAll(service.startDelaySeconds());
            overheads.addAll(service.overheadSeconds());
            offered += service.requests() + service.unanswered();
            inTime += service.withinSlo();
            coldStarts += service.coldStarts();
            services.add(slo(service));
            own = own.plus(service.own());
        }
        return new Summary(
                outcome.run(),
                outcome.complete(),
                jobs(results, jct),
                new Requests(
                        Math.round(offered),
                        coldStarts,
                        delays,
                        overheads,
                        offered > 0 ? Optional.of(Math.min(1, inTime / offered)) : Optional.empty(),
                        services,
                        own),
                lending(outcome),
                results.gpuUtilization(),
                results.rescalingGpuSeconds() / 3600,
                hours(results.startingGpuSeconds()),
                outcome.queueWaits(),
                outcome.waitsByQueue(),
                outcome.wallSeconds());
    }

    private static ServiceSlo slo(ServiceResult service) {
        return new ServiceSlo(
                service.service().value(),
                service.requests() + service.unanswered(),
                service.withinSlo(),
                service.coldStarts());
    }

    private static Lending lending(RunOutcome outcome) {
        return new Lending(
                decisions(outcome, decision -> decision.action().kind().equals("lend")),
                decisions(outcome, Decision::isReclaim),
                decisions(outcome, Decision::isRelease),
                outcome.results().lentGpuSeconds() / 3600);
    }

    private static Jobs jobs(WorldResults results, Distribution jct) {
        return new Jobs(
                results.jobs().size(),
                (int) jct.count(),
                (int) results.jobs().stream().filter(Summary::failed).count(),
                jct,
                makespan(results),
                results.jobs().stream().mapToInt(JobResult::restarts).sum(),
                results.jobs().stream().mapToInt(JobResult::inPlace).sum(),
                results.jobs().stream()
                        .flatMap(job -> job.firstWait().stream())
                        .max(Duration::compareTo)
                        .map(wait -> Limits.millis(wait) / 1000.0),
                deadlines(results));
    }

    /** How many deadlines were met; empty if no job has one. */
    static Optional<KeptDeadlines> deadlines(WorldResults results) {
        if (results.jobs().stream().allMatch(job -> job.deadline().isEmpty())) {
            return Optional.empty();
        }
        return Optional.of(new KeptDeadlines(
                (int) results.jobs().stream().filter(JobResult::metDeadline).count(), (int) results.jobs().stream()
                        .filter(job -> job.missedDeadline(results.now()))
                        .count()));
    }

    private static Optional<Double> makespan(WorldResults results) {
        Optional<Instant> first =
                results.jobs().stream().map(JobResult::submitted).min(Instant::compareTo);
        Optional<Instant> last =
                results.jobs().stream().flatMap(job -> job.completed().stream()).max(Instant::compareTo);
        return first.flatMap(from -> last.map(to -> Limits.millis(Duration.between(from, to)) / 1000.0));
    }

    private static boolean failed(JobResult job) {
        return job.phase() == JobPhase.FAILED || job.phase() == JobPhase.CANCELLED;
    }

    private static long decisions(RunOutcome outcome, Predicate<Decision> counted) {
        return outcome.decisions().stream()
                .filter(decision -> !decision.advisory() && counted.test(decision))
                .count();
    }

    /** A figure of completion times, where any job completed. */
    public Optional<Double> jct(ToDoubleFunction<Distribution> figure) {
        return jobs.completed() == 0 ? Optional.empty() : Optional.of(figure.applyAsDouble(jobs.jctSeconds()));
    }

    private static OptionalDouble hours(OptionalDouble seconds) {
        return seconds.isPresent() ? OptionalDouble.of(seconds.getAsDouble() / 3600) : seconds;
    }

    /** The figures by their names in {@code summary.json}; null where there is none. */
    Map<String, @Nullable Object> fields() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        trainingFields(fields);
        inferenceFields(fields);
        fields.put("loans", lending.loans());
        fields.put("reclaims", lending.reclaims());
        fields.put("releases", lending.releases());
        fields.put("gpuHoursLent", rounded(lending.gpuHours()));
        fields.put("gpuHoursRescaling", rounded(gpuHoursRescaling));
        gpuHoursFirstStarts.ifPresent(hours -> fields.put("gpuHoursFirstStarts", rounded(hours)));
        queueWaits.ifPresent(waits -> {
            Map<String, Object> byQueue = new LinkedHashMap<>();
            waitsByQueue.forEach((queue, ofQueue) -> byQueue.put(queue, fields(ofQueue)));
            fields.put("queueWaits", fields(waits));
            fields.put("queueWaitsByQueue", byQueue);
        });
        fields.put("wallSeconds", rounded(wallSeconds));
        return fields;
    }

    private static Map<String, @Nullable Object> fields(Distribution waits) {
        Map<String, @Nullable Object> figures = new LinkedHashMap<>();
        figures.put("asks", Math.round(waits.count()));
        figures.put("max", rounded(waits.max()));
        figures.put("p99", rounded(waits.quantile(.99)));
        return figures;
    }

    private void trainingFields(Map<String, @Nullable Object> fields) {
        fields.put("workload", run.workload());
        fields.put("policy", run.policy());
        fields.put("lending", RunIdentity.onOrOff(run.lending()));
        fields.put("afe", RunIdentity.onOrOff(run.afe()));
        fields.put("seed", run.seed());
        fields.put("nodes", run.nodes());
        fields.put("gpusPerNode", run.gpusPerNode());
        fields.put("complete", complete);
        fields.put("trainingJobs", jobs.training());
        fields.put("completedJobs", jobs.completed());
        fields.put("failedJobs", jobs.failed());
        fields.put("avgJctSeconds", rounded(jct(Distribution::mean)));
        fields.put("p50JctSeconds", rounded(jct(sample -> sample.quantile(.5))));
        fields.put("p95JctSeconds", rounded(jct(sample -> sample.quantile(.95))));
        fields.put("p99JctSeconds", rounded(jct(sample -> sample.quantile(.99))));
        fields.put("makespanSeconds", rounded(jobs.makespanSeconds()));
        fields.put("restarts", jobs.restarts());
        fields.put("resizesInPlace", jobs.inPlace());
        fields.put("longestWaitSeconds", rounded(jobs.longestWaitSeconds()));
        jobs.deadlines().ifPresent(kept -> {
            fields.put("deadlinesMet", kept.met());
            fields.put("deadlinesMissed", kept.missed());
        });
        fields.put("gpuUtilization", rounded(gpuUtilization));
    }

    private void inferenceFields(Map<String, @Nullable Object> fields) {
        fields.put("inferenceRequests", requests.offered());
        fields.put("coldStarts", requests.coldStarts());
        fields.put("startDelayMeanSeconds", rounded(requests.startDelaySeconds().mean()));
        fields.put("startDelayP99Seconds", rounded(requests.startDelaySeconds().quantile(.99)));
        fields.put(
                "responseOverheadMeanSeconds",
                rounded(requests.overheadSeconds().mean()));
        fields.put(
                "responseOverheadP99Seconds", rounded(requests.overheadSeconds().quantile(.99)));
        fields.put(
                "responseOverheadMaxSeconds", rounded(requests.overheadSeconds().max()));
        fields.put("sloAttainment", rounded(requests.sloAttainment().orElse(1.0)));
        fields.put("sloMisses", count(requests.misses()));
        fields.put("ownRequests", count(requests.own().requests()));
        fields.put("ownSloMisses", count(requests.own().misses()));
        fields.put("errorBudgetUsed", rounded(requests.sloAttainment().map(SloObjective::budgetUsed)));
        Optional<ServiceSlo> worst = ServiceSlo.worst(requests.services());
        fields.put("worstService", worst.isEmpty() ? null : worst.get().service());
        fields.put("services", requests.services().stream().map(Summary::fields).toList());
    }

    private static Map<String, @Nullable Object> fields(ServiceSlo service) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("service", service.service());
        fields.put("requests", rounded(service.requests()));
        fields.put("withinSlo", rounded(service.withinSlo()));
        fields.put("sloAttainment", rounded(service.attainment()));
        fields.put("coldStarts", service.coldStarts());
        return fields;
    }

    private static @Nullable Long count(double number) {
        return Double.isFinite(number) ? Math.round(number) : null;
    }

    /** As many digits as mean something; null where there is no such number. */
    private static @Nullable Double rounded(double value) {
        return Json.rounded(value, 1e6);
    }

    static @Nullable Double rounded(Optional<Double> value) {
        return value.isEmpty() ? null : rounded(value.get());
    }
}
