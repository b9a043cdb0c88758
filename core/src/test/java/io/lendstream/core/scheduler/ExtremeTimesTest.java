package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Times that the codec refuses from others and that an old log may still have: they stop no domain. */
class ExtremeTimesTest {
    private static final Instant BEFORE_ALL = Instant.ofEpochMilli(Long.MIN_VALUE);

    private final Scenario story = Scenario.of("lendstream")
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled();

    @Test
    void jobsSubmittedBeforeAllTimeStopNoTick() {
        story.tell(submitted("old-1")).tell(submitted("old-2")).settled();

        story.after(Duration.ofHours(1));

        assertThat(story.state().now()).isAfter(Scenario.START.plus(Duration.ofMinutes(55)));
        assertThat(story.rate("chat", 25).lastKinds()).isNotEmpty();
        assertThat(story.job("old-1").attainedBy(story.now())).isFinite().isNotNegative();
    }

    private TrainingJob submitted(String name) {
        TrainingJob job = story.jobRecord(name, 2, true);
        return new TrainingJob(
                job.job(),
                job.domain(),
                BEFORE_ALL,
                job.application(),
                job.scaling(),
                job.precedence(),
                job.traits(),
                job.driver(),
                Optional.empty());
    }

    @Test
    void aWindowOfAllTimeIsHarmless() {
        RequestRate good = story.rateRecord("chat", 1, 1);

        story.tell(new RequestRate(
                        good.service(),
                        good.domain(),
                        "other",
                        "boot-1",
                        1,
                        BEFORE_ALL,
                        story.now(),
                        RequestRate.Requests.answered(15),
                        good.latency(),
                        good.inputSizes(),
                        List.of()))
                .settled();

        assertThat(story.rate("chat", 25).lastKinds()).contains("serve");
        story.after(Duration.ofHours(1)).rate("chat", 25);
        assertThat(story.state().now()).isEqualTo(story.now());
    }
}
