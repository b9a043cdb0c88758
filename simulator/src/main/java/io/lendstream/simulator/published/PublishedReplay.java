package io.lendstream.simulator.published;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.results.RunIdentity;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A published workload in the timing of a published simulator, with its results in our form.
 *
 * <p>Without lending, training runs alone on its nodes, as in the published comparison, and requests on the others.
 *
 * @param policyName what the run is called by
 * @param lending whether training and inference share all nodes
 * @param trainingNodes nodes of training without lending
 * @param settings with all nodes
 */
public record PublishedReplay(String policyName, boolean lending, int trainingNodes, PublishedSettings settings) {
    private static final Instant START = Workload.EPOCH;
    private static final double FIT_START_STEP = 1e-9;

    /** The same with the fits' start moved by a billionth for each seed after the first. */
    public PublishedReplay withSeed(long seed) {
        return new PublishedReplay(
                policyName, lending, trainingNodes, settings.withFitStart(1 + (seed - 1) * FIT_START_STEP));
    }

    /**
     * Runs it to its end.
     *
     * @param traces directory with a directory of measurements an application
     */
    public RunOutcome run(PublishedWorkload workload, Path traces) {
        long begun = System.nanoTime();
        PublishedRun training;
        PublishedRun inference;
        if (lending) {
            training = PublishedSimulator.run(workload, traces, settings, START);
            inference = training;
        } else {
            training = PublishedSimulator.run(workload.training(), traces, settings.withNodes(trainingNodes), START);
            inference = PublishedSimulator.run(
                    workload.inference(), traces, settings.withNodes(settings.nodes() - trainingNodes), START);
        }
        return outcome(workload.name(), results(training, inference), begun);
    }

    /**
     * Runs a list of rigid jobs to its end, by {@link ListSimulator}.
     *
     * @throws IllegalArgumentException if there is more in it than rigid jobs that fit the cluster
     */
    public RunOutcome run(Workload list) {
        long begun = System.nanoTime();
        PublishedSettings there = lending ? settings : settings.withNodes(trainingNodes);
        ListSimulator.Outcome outcome = ListSimulator.run(list, there);
        double paused =
                outcome.runs().stream().mapToDouble(ListedRun::pausedGpuSeconds).sum();
        WorldResults results = new WorldResults(
                list.start(),
                list.start().plusSeconds(outcome.end()),
                outcome.runs().stream().map(run -> run.result(list.start())).toList(),
                List.of(),
                List.of(),
                there.gpus(),
                outcome.computingGpuSeconds(),
                outcome.lastArrival(),
                0,
                paused);
        return outcome(list.name(), results, begun);
    }

    private RunOutcome outcome(String workload, WorldResults results, long begun) {
        double wallSeconds = (System.nanoTime() - begun) / 1e9;
        long seed = 1 + Math.round((settings.fitStart() - 1) / FIT_START_STEP);
        RunIdentity identity = new RunIdentity(
                workload, policyName, lending, settings.afe(), seed, settings.nodes(), settings.gpusPerNode());
        return new RunOutcome(identity, results, List.of(), wallSeconds);
    }

    private WorldResults results(PublishedRun training, PublishedRun inference) {
        List<JobResult> jobs = training.trainings().stream()
                .map(run -> result(run, settings.afe()))
                .toList();
        List<RequestResult> requests = inference.requests().stream()
                .map(PublishedReplay::result)
                .sorted(Comparator.comparing(RequestResult::completed))
                .toList();
        int end = Math.max(
                training.trainings().stream()
                        .mapToInt(TrainingRun::completed)
                        .max()
                        .orElse(0),
                inference.requests().stream()
                        .mapToInt(RequestBatchRun::completed)
                        .max()
                        .orElse(0));
        int measured = training.trainings().stream()
                .mapToInt(run -> run.row().second())
                .max()
                .orElse(end);
        double serving = inference.requests().stream()
                .mapToDouble(request -> Math.max(
                        0, Math.min(measured, request.completed()) - (request.completed() - request.duration())))
                .sum();
        return new WorldResults(
                START,
                at(end),
                jobs,
                requests,
                services(inference),
                settings.gpus(),
                training.computingGpuSeconds() + serving,
                measured,
                lending ? training.secondHalfGpuSeconds() : 0,
                training.trainings().stream()
                        .mapToDouble(TrainingRun::pausedGpuSeconds)
                        .sum());
    }

    private static JobResult result(TrainingRun run, boolean inPlace) {
        return new JobResult(
                run.id(),
                run.trace().application().name(),
                at(run.row().second()),
                Optional.of(at(run.started())),
                Optional.of(at(run.completed())),
                run.restarts(),
                inPlace ? run.restarts() : 0,
                run.attainedGpuSeconds(),
                run.shareDone(),
                JobPhase.FINISHED,
                Optional.empty());
    }

    private static RequestResult result(RequestBatchRun request) {
        return new RequestResult(
                request.row().name(),
                new ServiceId(request.row().application()),
                at(request.row().second()),
                at(request.started()),
                at(request.completed()),
                Duration.ofSeconds(request.duration()),
                request.isCold());
    }

    /** By service; each promises to answer within its longest request and twice its cold start. */
    private static List<ServiceResult> services(PublishedRun inference) {
        Map<String, List<RequestBatchRun>> byService = new TreeMap<>();
        for (RequestBatchRun request : inference.requests()) {
            byService
                    .computeIfAbsent(request.row().application(), any -> new ArrayList<>())
                    .add(request);
        }
        List<ServiceResult> results = new ArrayList<>();
        byService.forEach((service, requests) -> {
            int longest =
                    requests.stream().mapToInt(RequestBatchRun::duration).max().orElse(0);
            Distribution delays = new Distribution();
            Distribution overheads = new Distribution();
            int inTime = 0;
            for (RequestBatchRun request : requests) {
                int response = request.completed() - request.row().second();
                delays.add(request.started() - request.row().second());
                overheads.add(response - request.duration());
                inTime += response <= longest + 2 * request.coldStart() ? 1 : 0;
            }
            long cold = requests.stream().filter(RequestBatchRun::isCold).count();
            results.add(new ServiceResult(new ServiceId(service), requests.size(), cold, inTime, 0, delays, overheads));
        });
        return results;
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }
}
