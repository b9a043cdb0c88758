package io.lendstream.scheduler;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.junit.jupiter.api.Test;

class CommitPaceTest {
    private final MockProcessorContext<byte[], byte[]> context = new MockProcessorContext<>();
    private final CommitPace pace = new CommitPace(context);

    @Test
    void theFirstIsCommittedAtOnce() {
        at(1_000).decided(false);

        assertThat(context.committed()).isTrue();
        assertThat(waits()).isEmpty();
    }

    @Test
    void whatDemandWaitsForFollowsSoonerThanTheRest() {
        at(1_000).commit();
        at(1_002).decided(false);
        at(1_003).decided(false);
        at(1_003).decided(true);
        at(1_004).decided(true);

        assertThat(waits()).containsExactly(ofMillis(23), ofMillis(2));
        assertThat(context.scheduledPunctuators().get(0).cancelled()).isTrue();
    }

    @Test
    void afterAPauseNothingWaits() {
        at(1_000).commit();
        context.resetCommit();

        at(1_005).decided(true);
        assertThat(context.committed()).isTrue();
        context.resetCommit();
        at(1_030).decided(false);
        assertThat(context.committed()).isTrue();
    }

    @Test
    void aClockThatIsSetBackHoldsNothingUp() {
        at(1_000_000).commit();
        at(0).decided(false);

        assertThat(waits()).containsExactly(ofMillis(25));
    }

    private CommitPace at(long millis) {
        context.setCurrentSystemTimeMs(millis);
        return pace;
    }

    private List<Duration> waits() {
        return context.scheduledPunctuators().stream()
                .map(MockProcessorContext.CapturedPunctuator::getInterval)
                .toList();
    }
}
