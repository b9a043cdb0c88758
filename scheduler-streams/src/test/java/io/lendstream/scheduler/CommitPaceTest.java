package io.lendstream.scheduler;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.streams.StreamsConfig;
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

    @Test
    void whatOthersWaitForInATransactionIsCommittedWithinATenthOfASecond() {
        Properties exactlyOnce = new Properties();
        exactlyOnce.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        MockProcessorContext<byte[], byte[]> transactional = new MockProcessorContext<>(exactlyOnce);
        CommitPace paced = new CommitPace(transactional);
        transactional.setCurrentSystemTimeMs(1_000);
        paced.commit();
        transactional.resetCommit();
        transactional.setCurrentSystemTimeMs(1_030);
        paced.owed();
        paced.owed();

        assertThat(transactional.committed()).isFalse();
        assertThat(transactional.scheduledPunctuators())
                .extracting(MockProcessorContext.CapturedPunctuator::getInterval)
                .containsExactly(ofMillis(100));
    }

    @Test
    void withoutATransactionOthersReadAtOnceSoNothingIsOwed() {
        at(1_000).commit();
        context.resetCommit();
        at(2_000).owed();

        assertThat(context.committed()).isFalse();
        assertThat(waits()).isEmpty();
    }

    /** The commit interval of the thread is for all tasks together, so that the log has fewer batches. */
    @Test
    void whatNothingWaitsForGoesWithTheCommitInterval() {
        assertThat(withoutHurry(1_000)).isEmpty();
        assertThat(withoutHurry(5_000)).as("longer than samples may take").containsExactly(ofSeconds(1));
    }

    private static List<Duration> withoutHurry(long intervalMillis) {
        Properties exactlyOnce = new Properties();
        exactlyOnce.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        exactlyOnce.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, intervalMillis);
        MockProcessorContext<byte[], byte[]> transactional = new MockProcessorContext<>(exactlyOnce);
        transactional.setCurrentSystemTimeMs(1_000);
        new CommitPace(transactional).owedWithoutHurry();

        assertThat(transactional.committed()).isFalse();
        return waits(transactional);
    }

    private CommitPace at(long millis) {
        context.setCurrentSystemTimeMs(millis);
        return pace;
    }

    private List<Duration> waits() {
        return waits(context);
    }

    private static List<Duration> waits(MockProcessorContext<byte[], byte[]> of) {
        return of.scheduledPunctuators().stream()
                .map(MockProcessorContext.CapturedPunctuator::getInterval)
                .toList();
    }
}
