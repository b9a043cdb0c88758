package io.lendstream.simulator.workload;

import io.lendstream.core.event.ClusterQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Training jobs to arrive and inference services with the demand for them.
 *
 * @param name what it is called in results
 * @param start the moment that all its times count from
 * @param tasks training jobs in order of submission
 * @param loads inference services in order of their names
 * @param queues queues in order of their names
 * @param declared how wrongly owners declare their jobs and services
 */
public record Workload(
        String name,
        Instant start,
        List<TrainingTask> tasks,
        List<ServiceLoad> loads,
        List<ClusterQueue> queues,
        WrongDeclarations declared) {
    /** The virtual moment at which workloads start unless told otherwise. */
    public static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");

    public Workload {
        tasks = tasks.stream()
                .sorted(Comparator.<TrainingTask, Instant>comparing(
                                task -> task.job().submittedAt())
                        .thenComparing(task -> task.job().job()))
                .toList();
        loads = loads.stream()
                .sorted(Comparator.comparing(load -> load.service().service()))
                .toList();
        queues = queues.stream()
                .sorted(Comparator.comparing(ClusterQueue::queue))
                .toList();
    }

    /** A workload whose owners declare everything as it is. */
    public Workload(
            String name, Instant start, List<TrainingTask> tasks, List<ServiceLoad> loads, List<ClusterQueue> queues) {
        this(name, start, tasks, loads, queues, WrongDeclarations.NONE);
    }

    /** The same workload whose owners declare it wrongly. */
    public Workload declared(WrongDeclarations wrong) {
        return new Workload(name, start, tasks, loads, queues, wrong);
    }

    /** A workload without queues. */
    public Workload(String name, Instant start, List<TrainingTask> tasks, List<ServiceLoad> loads) {
        this(name, start, tasks, loads, List.of());
    }

    /**
     * Several workloads as one, in the order of time. Where a name occurs again, the later workload's gets a number:
     * {@code chat-2}.
     */
    public static Workload merged(List<Workload> parts) {
        if (parts.size() == 1) {
            return parts.get(0);
        }
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one workload to merge");
        }
        Set<String> names = new HashSet<>();
        List<TrainingTask> tasks = new ArrayList<>();
        List<ServiceLoad> loads = new ArrayList<>();
        List<ClusterQueue> queues = new ArrayList<>();
        for (Workload part : parts) {
            for (ClusterQueue queue : part.queues) {
                if (!names.add("queue/" + queue.queue())) {
                    throw new IllegalArgumentException(
                            "queue %s is in two workloads; declare it in one".formatted(queue.queue()));
                }
                queues.add(queue);
            }
            for (TrainingTask task : part.tasks) {
                tasks.add(task.named(unused("job/", task.job().job().value(), names)));
            }
            for (ServiceLoad load : part.loads) {
                loads.add(load.named(unused("service/", load.service().service().value(), names)));
            }
        }
        Instant start =
                parts.stream().map(Workload::start).min(Instant::compareTo).orElseThrow();
        return new Workload(String.join(",", parts.stream().map(Workload::name).toList()), start, tasks, loads, queues);
    }

    private static String unused(String kind, String name, Set<String> names) {
        String candidate = name;
        for (int number = 2; !names.add(kind + candidate); number++) {
            candidate = name + "-" + number;
        }
        return candidate;
    }

    /** The fewest GPUs on which every job can run. */
    public int leastGpus() {
        return tasks.stream()
                .mapToInt(task -> task.job().scaling().minGpus())
                .max()
                .orElse(0);
    }

    public Optional<Instant> lastTrainingArrival() {
        return tasks.isEmpty()
                ? Optional.empty()
                : Optional.of(tasks.get(tasks.size() - 1).job().submittedAt());
    }

    /** When the last request is made, or the last series of rates ends; the start where there is no demand. */
    public Instant demandEnd() {
        return loads.stream()
                .map(load -> load.demand().end())
                .max(Instant::compareTo)
                .orElse(start);
    }

    /** Its own end: of its demand, or the last training arrival if that is later. A run ends when all jobs are done. */
    public Instant end() {
        Instant demandEnd = demandEnd();
        return lastTrainingArrival().filter(last -> last.isAfter(demandEnd)).orElse(demandEnd);
    }

    public Instant at(Duration sinceStart) {
        return start.plus(sinceStart);
    }
}
