package io.lendstream.benchmarks;

import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.results.Summary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Figures of a replay, or medians of several.
 *
 * @param jct average time from submission to completion of a job, in seconds
 * @param slowest the same of the slowest twentieth of the jobs
 * @param cold requests of a hundred that waited for a replica to start
 * @param overhead mean wait of a request for a GPU and a replica, in seconds
 * @param slow requests of a hundred that waited for more than a second
 * @param waited requests of a hundred that waited for a GPU
 * @param slo requests of a hundred within their SLO
 * @param changes changes of the GPUs of running jobs
 * @param gpuHoursRescaling GPU hours of changes, without first starts
 * @param byApplication average completion times of jobs by application
 */
record BeyondFigures(
        double jct,
        double p95,
        double p99,
        double slowest,
        double cold,
        double overhead,
        double p95Overhead,
        double slow,
        double waited,
        double slo,
        double changes,
        double gpuHoursRescaling,
        double gpuHoursLent,
        Map<String, Double> byApplication) {
    private static final double SLOWEST = 0.05;

    static BeyondFigures of(Replayed replayed) {
        Summary summary = Summary.of(replayed.outcome());
        Summary.Requests requests = summary.requests();
        double offered = Math.max(1, requests.offered());
        Distribution delays = requests.startDelaySeconds();
        Distribution overheads = requests.overheadSeconds();
        List<JobResult> jobs = replayed.outcome().results().jobs();
        return new BeyondFigures(
                summary.jct(Distribution::mean).orElse(Double.POSITIVE_INFINITY),
                summary.jct(all -> all.quantile(.95)).orElse(Double.POSITIVE_INFINITY),
                summary.jct(all -> all.quantile(.99)).orElse(Double.POSITIVE_INFINITY),
                slowest(jobs),
                100 * requests.coldStarts() / offered,
                overheads.mean(),
                overheads.quantile(.95),
                100 * (1 - overheads.upTo(1) / Math.max(1, overheads.count())),
                100 * (1 - delays.upTo(0) / Math.max(1, delays.count())),
                100 * requests.sloAttainment().orElse(1.0),
                summary.jobs().restarts(),
                summary.gpuHoursRescaling() - summary.gpuHoursFirstStarts().orElse(0),
                summary.lending().gpuHours(),
                byApplication(jobs));
    }

    private static double seconds(JobResult job) {
        return job.completionTime().map(BeyondFigures::seconds).orElse(Double.POSITIVE_INFINITY);
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }

    private static double slowest(List<JobResult> jobs) {
        return jobs.stream()
                .mapToDouble(BeyondFigures::seconds)
                .boxed()
                .sorted(Comparator.reverseOrder())
                .limit(Math.max(1, Math.round(SLOWEST * jobs.size())))
                .mapToDouble(each -> each)
                .average()
                .orElse(0);
    }

    private static Map<String, Double> byApplication(List<JobResult> jobs) {
        Map<String, Distribution> all = new TreeMap<>();
        for (JobResult job : jobs) {
            all.computeIfAbsent(job.application(), any -> new Distribution()).add(seconds(job));
        }
        Map<String, Double> means = new TreeMap<>();
        all.forEach((application, times) -> means.put(application, times.mean()));
        return means;
    }

    /** Medians of the figures of several runs, each figure by itself. */
    static BeyondFigures medians(List<BeyondFigures> runs) {
        Map<String, Double> byApplication = new TreeMap<>();
        runs.get(0)
                .byApplication
                .keySet()
                .forEach(application -> byApplication.put(
                        application, median(runs, run -> run.byApplication.getOrDefault(application, 0.0))));
        return new BeyondFigures(
                median(runs, BeyondFigures::jct),
                median(runs, BeyondFigures::p95),
                median(runs, BeyondFigures::p99),
                median(runs, BeyondFigures::slowest),
                median(runs, BeyondFigures::cold),
                median(runs, BeyondFigures::overhead),
                median(runs, BeyondFigures::p95Overhead),
                median(runs, BeyondFigures::slow),
                median(runs, BeyondFigures::waited),
                median(runs, BeyondFigures::slo),
                median(runs, BeyondFigures::changes),
                median(runs, BeyondFigures::gpuHoursRescaling),
                median(runs, BeyondFigures::gpuHoursLent),
                byApplication);
    }

    private static double median(List<BeyondFigures> runs, ToDoubleFunction<BeyondFigures> figure) {
        double[] sorted = runs.stream().mapToDouble(figure).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The greatest ratio of the completion time of a job to that in another run. */
    static double worstJob(List<JobResult> jobs, List<JobResult> others) {
        Map<String, Double> seconds = new TreeMap<>();
        others.forEach(job -> seconds.put(job.job().value(), seconds(job)));
        return jobs.stream()
                .mapToDouble(
                        job -> seconds(job) / seconds.getOrDefault(job.job().value(), Double.NaN))
                .filter(ratio -> !Double.isNaN(ratio))
                .max()
                .orElse(Double.NaN);
    }

    /**
     * By how many seconds requests waited longer for a GPU than in another run, in the order of size; 0 for those that
     * did not.
     */
    static double[] moreWait(List<RequestResult> requests, List<RequestResult> others) {
        Map<String, Double> waits = new TreeMap<>();
        others.forEach(one -> waits.put(one.name(), seconds(one.startDelay())));
        List<Double> more = new ArrayList<>();
        for (RequestResult one : requests) {
            double before = waits.getOrDefault(one.name(), 0.0);
            more.add(Math.max(0, seconds(one.startDelay()) - before));
        }
        double[] sorted = more.stream().mapToDouble(each -> each).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
