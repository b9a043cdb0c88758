package io.lendstream.simulator.workload;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.id.JobId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Makes up a queue of training jobs: sessions of a person who submits one or several similar jobs, with durations that
 * spread over three orders of magnitude, as in the published traces of training clusters. All jobs together take a
 * given number of GPU-hours.
 */
final class TrainingGenerator {
    /** A session's further jobs come within this many seconds of one another. */
    private static final int SESSION_GAP_SECONDS = 60;

    private static final double SINGLE_JOB_SESSIONS = .82;
    private static final double DURATION_SD = 1.25;
    private static final double SESSION_DURATION_SD = .23;
    /** Share of all work that one job may be, so that no job outlasts the day. */
    private static final double MOST_OF_ALL = .07;

    private final Scene scene;
    private final RandomGenerator chance;

    TrainingGenerator(Scene scene, RandomGenerator chance) {
        this.scene = scene;
        this.chance = chance;
    }

    private record Draft(ApplicationClass kind, double at, int gpus, double work) {
        Draft cut(double most) {
            return work <= most ? this : new Draft(kind, at, gpus, most);
        }
    }

    /**
     * @param count how many jobs
     * @param hours in which they arrive
     * @param gpuHours what they take in all, on as many GPUs as each asks for
     */
    List<TrainingTask> generate(int count, double hours, double gpuHours) {
        List<Draft> drafts = drafts(count, hours);
        double all = drafts.stream().mapToDouble(Draft::work).sum();
        List<Draft> cut =
                drafts.stream().map(draft -> draft.cut(MOST_OF_ALL * all)).toList();
        double rest = cut.stream().mapToDouble(Draft::work).sum();
        List<TrainingTask> tasks = new ArrayList<>();
        for (int number = 0; number < cut.size(); number++) {
            Draft draft = cut.get(number);
            tasks.add(task(number + 1, draft, gpuHours * 3600 * draft.work / rest));
        }
        return tasks;
    }

    private List<Draft> drafts(int count, double hours) {
        List<Draft> drafts = new ArrayList<>();
        List<Double> arrivals = new ArrayList<>();
        while (drafts.size() < count) {
            // Half of the sessions come in the first third: people start what shall be done by the evening.
            double at = 3600 * hours * Math.pow(chance.nextDouble(), 1.5);
            int size = chance.nextDouble() < SINGLE_JOB_SESSIONS ? 1 : 2 + chance.nextInt(4);
            ApplicationClass kind = anyKind();
            int gpus = gpus(kind);
            double typical = kind.workScale() * Math.exp(DURATION_SD * chance.nextGaussian());
            for (int job = 0; job < size && drafts.size() < count; job++) {
                double work = typical * gpus * Math.exp(SESSION_DURATION_SD * chance.nextGaussian());
                drafts.add(new Draft(kind, at, gpus, work));
                arrivals.add(at);
                at += 1 + chance.nextInt(SESSION_GAP_SECONDS);
            }
        }
        double first = Collections.min(arrivals);
        return drafts.stream()
                .map(draft -> new Draft(draft.kind, Math.floor(draft.at - first), draft.gpus, draft.work))
                .sorted(java.util.Comparator.comparingDouble(Draft::at))
                .toList();
    }

    private ApplicationClass anyKind() {
        double draw = chance.nextDouble();
        for (ApplicationClass kind : ApplicationClass.ALL) {
            draw -= kind.share();
            if (draw < 0) {
                return kind;
            }
        }
        return ApplicationClass.ALL.get(0);
    }

    private int gpus(ApplicationClass kind) {
        double draw = chance.nextDouble();
        int gpus = draw < .45 ? 1 : draw < .65 ? 2 : draw < .88 ? 4 : 8;
        return Math.min(gpus, Math.min(kind.maxGpus(), Math.max(1, scene.trainingGpus())));
    }

    private TrainingTask task(int number, Draft draft, double gpuSeconds) {
        ApplicationClass kind = draft.kind;
        PolluxApplication application = kind.application();
        List<GradientNoise> noise = kind.noise();
        GradientNoise middle = noise.get(noise.size() / 2);
        GoodputModel model = new GoodputModel(kind.throughput(), middle, application.batch());
        int nodes = draft.gpus > 4 ? 2 : 1;
        double iterationsPerSecond =
                model.best(nodes, draft.gpus).goodput() / application.batch().initial();
        double progress = Math.max(1, Math.ceil(iterationsPerSecond * gpuSeconds / draft.gpus));
        Instant at = scene.start().plusSeconds((long) draft.at + 60);
        TrainingJob job = new TrainingJob(
                new JobId("%s-%03d".formatted(application.name(), number)),
                scene.domain(),
                at,
                application.name(),
                new TrainingJob.Scaling(draft.gpus, 1, kind.maxGpus(), true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        application.batch(), new GoodputProfile(kind.throughput(), noise.get(0)), application.costs()),
                "simulated",
                Optional.empty());
        return new TrainingTask(job, new ModelTruth(kind.throughput(), noise, application.batch(), progress));
    }
}
