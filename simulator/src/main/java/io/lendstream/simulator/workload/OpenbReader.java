package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads the pods of Alibaba's GPU cluster of 2023 (openb): those that ran on GPUs.
 *
 * <p>Latency-sensitive pods (LS) are the demand of one service, {@code openb-ls}: every ten minutes as many requests
 * per second as GPUs ran for it, each of which a replica answers at 0.85 of its capacity. All others are training jobs
 * from their creation, as long as they ran. A part of a GPU counts as one. Time begins with the first pod that was
 * created on GPUs after second 0, for those at 0 were there before.
 *
 * @see <a href="https://github.com/alibaba/clusterdata">Alibaba cluster data, cluster-trace-gpu-v2023</a>
 */
final class OpenbReader {
    private static final List<String> COLUMNS =
            List.of("name", "num_gpu", "qos", "creation_time", "deletion_time", "scheduled_time");
    private static final int STEP_SECONDS = 600;
    private static final double USED_OF_A_REPLICA = 0.85;

    private OpenbReader() {}

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    private record Pod(CsvRow row, int gpus, long created, long scheduled, long deleted) {
        static Optional<Pod> of(CsvRow row) {
            int gpus = row.whole("num_gpu", 0);
            long created = row.whole("creation_time", 0);
            if (gpus == 0 || row.text("scheduled_time").isEmpty()) {
                return Optional.empty();
            }
            long scheduled = row.whole("scheduled_time", 0);
            long deleted = row.whole("deletion_time", 0);
            return deleted > scheduled
                    ? Optional.of(new Pod(row, gpus, created, scheduled, deleted))
                    : Optional.empty();
        }

        boolean serves() {
            return row.text("qos").equals("LS");
        }
    }

    static Workload read(Path file, Scene scene) {
        List<Pod> pods = CsvTable.read(file, COLUMNS.toArray(String[]::new)).rows().stream()
                .flatMap(row -> Pod.of(row).stream())
                .toList();
        long first =
                pods.stream().mapToLong(Pod::created).filter(at -> at > 0).min().orElse(0);
        ListedJobs jobs = new ListedJobs(scene);
        List<TrainingTask> tasks = new ArrayList<>();
        for (Pod pod : pods) {
            if (!pod.serves()) {
                tasks.add(jobs.task(
                        pod.row.text("name"),
                        "openb",
                        scene.start().plusSeconds(Math.max(0, pod.created - first)),
                        pod.gpus,
                        (double) (pod.deleted - Math.max(pod.scheduled, Math.min(first, pod.deleted - 1)))));
            }
        }
        List<Pod> serving = pods.stream().filter(Pod::serves).toList();
        return new Workload(
                DeepBootReader.nameOf(file),
                scene.start(),
                tasks,
                serving.isEmpty() ? List.of() : List.of(demand(serving, first, scene)));
    }

    private static ServiceLoad demand(List<Pod> pods, long first, Scene scene) {
        long last = pods.stream().mapToLong(Pod::deleted).max().orElseThrow();
        double[] gpus = new double[(int) Math.max(1, (last - first + STEP_SECONDS - 1) / STEP_SECONDS)];
        for (Pod pod : pods) {
            for (int step = (int) Math.max(0, (pod.scheduled - first) / STEP_SECONDS); step < gpus.length; step++) {
                long from = Math.max(pod.scheduled, first + (long) step * STEP_SECONDS);
                long to = Math.min(pod.deleted, first + (step + 1L) * STEP_SECONDS);
                if (to <= from) {
                    break;
                }
                gpus[step] += pod.gpus * (to - from) / (double) STEP_SECONDS;
            }
        }
        List<Double> perSecond = Arrays.stream(gpus)
                .map(count -> count * USED_OF_A_REPLICA)
                .boxed()
                .toList();
        InferenceService service = new InferenceService(
                new ServiceId("openb-ls"),
                scene.domain(),
                scene.start(),
                List.of("openb-ls"),
                Duration.ofSeconds(10),
                1,
                Optional.empty(),
                0,
                Duration.ofSeconds(10));
        return new ServiceLoad(
                service, new Demand.Rates(scene.start(), Duration.ofSeconds(STEP_SECONDS), perSecond, 0, 1));
    }
}
