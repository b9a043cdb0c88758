package io.lendstream.service.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ConnectionTest {
    private final List<String> reasons = new ArrayList<>();

    @Test
    void waitsForABrokerUntilItIsStopped() {
        boolean there = await("127.0.0.1:1", Optional.empty(), 3);

        assertThat(there).isFalse();
        assertThat(reasons).hasSize(3).allSatisfy(why -> assertThat(why).contains("no broker answered there"));
    }

    @Test
    void theFirstTryIsShortSoThatAWrongAddressIsSeenSoon() {
        long begun = System.nanoTime();

        await("127.0.0.1:1", Optional.empty(), 1);

        assertThat(reasons.get(0)).contains("within 2s");
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void givesUpAfterItsLimit() {
        assertThatThrownBy(() -> await("127.0.0.1:1", Optional.of(Duration.ofMillis(1)), 99))
                .isInstanceOf(UnreachableException.class)
                .hasMessageStartingWith("kafka.bootstrap.servers is 127.0.0.1:1, and no broker answered there");
    }

    @Test
    void doesNotWaitForAHostThatIsNotKnown() {
        assertThatThrownBy(() -> await("unknown.invalid:9092", Optional.empty(), 99))
                .isInstanceOf(UnreachableException.class)
                .hasMessageContaining("no host of that name is known");
        assertThat(reasons).isEmpty();
    }

    /** @param tries after how many tries it is stopped */
    private boolean await(String address, Optional<Duration> limit, int tries) {
        Settings settings = Settings.of(CommonKeys.ALL, "kafka.bootstrap.servers=" + address);
        return Connection.await(
                KafkaSettings.of("test", settings),
                TopicCatalogue.standard(),
                List.of(TopicCatalogue.NODES),
                tries == 1 ? Duration.ofSeconds(10) : Duration.ofMillis(300),
                limit,
                pause -> reasons.size() >= tries,
                reasons::add);
    }
}
