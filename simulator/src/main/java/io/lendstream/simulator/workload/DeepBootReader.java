package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads the workloads of the DeepBoot simulator, and of Pollux, whose format is the same without inference: a line a
 * training job or a batch of requests.
 *
 * <p>Every service promises to answer within its longest request and twice its cold start.
 */
final class DeepBootReader {
    private static final List<String> COLUMNS = List.of("name", "time", "application", "num_replicas", "batch_size");

    private final Scene scene;
    private final Path file;

    private DeepBootReader(Path file, Scene scene) {
        this.file = file;
        this.scene = scene;
    }

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    static Workload read(Path file, Scene scene) {
        return new DeepBootReader(file, scene).read();
    }

    private Workload read() {
        CsvTable table = CsvTable.read(file, COLUMNS.toArray(String[]::new));
        Map<String, List<CsvRow>> requests = new TreeMap<>();
        List<CsvRow> jobs = new ArrayList<>();
        for (CsvRow row : table.rows()) {
            String application = row.text("application");
            if (application.startsWith("infer-")) {
                requests.computeIfAbsent(application, any -> new ArrayList<>()).add(row);
            } else {
                jobs.add(row);
            }
        }
        List<TrainingTask> tasks = jobs.isEmpty() ? List.of() : tasks(jobs);
        List<ServiceLoad> loads = requests.entrySet().stream()
                .map(entry -> load(entry.getKey(), entry.getValue()))
                .toList();
        return new Workload(nameOf(file), scene.start(), tasks, loads);
    }

    static String nameOf(Path file) {
        return file.getFileName().toString().replaceFirst("\\.(csv|ya?ml)(\\.gz)?$", "");
    }

    private List<TrainingTask> tasks(List<CsvRow> jobs) {
        PolluxProfiles profiles = new PolluxProfiles(scene.profiles()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s has training jobs, whose speed is not in it; give --profiles a directory with a directory an application"
                                .formatted(file))));
        return jobs.stream().map(row -> task(row, profiles)).toList();
    }

    private TrainingTask task(CsvRow row, PolluxProfiles profiles) {
        PolluxApplication application = PolluxApplication.named(row.text("application"))
                .orElseThrow(() -> row.bad(
                        "application", "one of " + PolluxApplication.names() + ", or infer-<application>-<number>"));
        int replicas = row.whole("num_replicas", 1);
        PolluxProfiles.Profile profile = profiles.of(application);
        TrainingJob job = new TrainingJob(
                new JobId(name(row)),
                scene.domain(),
                at(row),
                application.name(),
                new TrainingJob.Scaling(Math.min(replicas, application.maxGpus()), 1, application.maxGpus(), true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(application.batch(), profile.known(), application.costs()),
                "simulated",
                Optional.empty());
        return new TrainingTask(job, profile.truth());
    }

    private ServiceLoad load(String service, List<CsvRow> rows) {
        PolluxApplication application = PolluxApplication.serving(service)
                .orElseThrow(() -> rows.get(0)
                        .bad(
                                "application",
                                "infer-<application>-<number> with an application of " + PolluxApplication.names()));
        List<Request> requests = new ArrayList<>();
        double busySeconds = 0;
        Duration longest = Duration.ZERO;
        for (CsvRow row : rows) {
            double seconds = row.number("duration", 0);
            if (seconds <= 0) {
                throw row.bad("duration", "the seconds that the requests take, above 0");
            }
            Duration duration = Duration.ofMillis(Math.round(seconds * 1000));
            requests.add(new Request(name(row), at(row), duration));
            busySeconds += seconds;
            longest = duration.compareTo(longest) > 0 ? duration : longest;
        }
        InferenceService spec = new InferenceService(
                new ServiceId(service),
                scene.domain(),
                scene.start(),
                List.of(application.name()),
                longest.plus(application.coldStart().multipliedBy(2)),
                rows.size() / busySeconds,
                Optional.of(1),
                0,
                application.coldStart());
        return new ServiceLoad(spec, new Demand.Requests(requests, scene.start()));
    }

    private String name(CsvRow row) {
        String name = row.text("name");
        if (name.isEmpty()) {
            throw row.bad("name", "a name");
        }
        return name;
    }

    private Instant at(CsvRow row) {
        return scene.start().plusMillis(Math.round(row.number("time", 0) * 1000));
    }
}
