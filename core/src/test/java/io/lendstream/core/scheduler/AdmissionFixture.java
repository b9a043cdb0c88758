package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Jobs with hard deadlines, and the answers to them. */
abstract class AdmissionFixture {
    static final double WORK = 1000;

    /** Under {@code tiresias} an elastic job waits for all 8 GPUs that it asks for. */
    static Scenario training(int gpus) {
        return Scenario.of("tiresias").node("train", Pool.TRAINING, gpus);
    }

    static TrainingJob linear(String name, int gpus, boolean elastic) {
        return new TrainingJob(
                new JobId(name),
                Scenario.DOMAIN,
                Scenario.START,
                "linear",
                new TrainingJob.Scaling(gpus, 1, gpus, elastic),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(24, 24, 1, 24, Optional.of(24)),
                        new GoodputProfile(new ThroughputParameters(0, 0.1, 0, 0, 0, 0, 1), new GradientNoise(1, 1000)),
                        new RescaleCosts(Duration.ofSeconds(10), Duration.ofSeconds(1))),
                "simulated",
                Optional.empty());
    }

    static Instant at(int seconds) {
        return Scenario.START.plusSeconds(seconds);
    }

    static Scenario hard(Scenario story, String name, int deadline) {
        return story.tell(linear(name, 8, true).due(at(deadline), DeadlineKind.HARD));
    }

    /** What a job reports when it is submitted. */
    static Scenario work(Scenario story, String name) {
        return story.tell(new TrainingProgress(
                new JobId(name),
                Scenario.DOMAIN,
                story.now(),
                JobPhase.QUEUED,
                0,
                Optional.of(WORK),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED));
    }

    static Scenario planned(Scenario story) {
        return story.after(ofSeconds(60)).settled();
    }

    static List<Decision> answers(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.ADMISSION))
                .toList();
    }

    static String lastAnswer(Scenario story) {
        return answers(story).get(answers(story).size() - 1).reason().text();
    }

    static Map<String, Double> lastNumbers(Scenario story) {
        return answers(story).get(answers(story).size() - 1).reason().numbers();
    }
}
