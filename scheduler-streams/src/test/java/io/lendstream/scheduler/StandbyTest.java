package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.health.Health;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.junit.jupiter.api.Test;

class StandbyTest {
    private final Health health = new Health();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final AtomicInteger looks = new AtomicInteger();
    private final List<String> seen = new ArrayList<>();

    /** Others have the group at so many looks. */
    private Standby standby(int atWork, int closingAt) {
        return new Standby(
                () -> {
                    int look = looks.incrementAndGet();
                    seen.add("%s, %.0f waiting"
                            .formatted(
                                    health.whyNotReady().orElse("ready"),
                                    metrics.get("lendstream.standby.threads")
                                            .gauge()
                                            .value()));
                    return look <= atWork ? Optional.of("others have the group") : Optional.empty();
                },
                Duration.ofMillis(1),
                () -> looks.get() > closingAt,
                health,
                metrics);
    }

    private UncaughtErrors errors(Standby standby) {
        return new UncaughtErrors(InstantSource.fixed(Instant.EPOCH), standby);
    }

    @Test
    void anInstanceThatTheBrokerKeepsOutOfAnotherTopologysGroupWaitsForItsEnd() {
        Throwable failure = new StreamsException(new InconsistentGroupProtocolException("another assignor"));

        assertThat(errors(standby(3, 100)).handle(failure)).isEqualTo(StreamThreadExceptionResponse.REPLACE_THREAD);

        assertThat(seen).hasSize(4).containsOnly("ready, 1 waiting");
        assertThat(health.whyNotReady()).contains(Standby.JOINING);
        assertThat(metrics.get("lendstream.standby.threads").gauge().value()).isZero();
    }

    @Test
    void itMayWaitAsOftenAsItHasTo() {
        UncaughtErrors errors = errors(standby(0, 100));
        for (int i = 0; i < 50; i++) {
            assertThat(errors.handle(new InconsistentGroupProtocolException("another assignor")))
                    .isEqualTo(StreamThreadExceptionResponse.REPLACE_THREAD);
        }
    }

    @Test
    void whoIsToEndDoesNotWait() {
        standby(1_000_000, 2).await();

        assertThat(seen).hasSize(3);
    }

    @Test
    void anErrorThatNoTryCanMendIsNotWaitedFor() {
        assertThat(errors(standby(1, 100)).handle(new IllegalStateException("a bug")))
                .isEqualTo(StreamThreadExceptionResponse.SHUTDOWN_CLIENT);
        assertThat(seen).isEmpty();
    }

    @Test
    void theAssignorsNameSaysTheTopologysVersion() {
        Map<String, Object> consumer = TopologyAssignor.in(Map.of("group.id", "g"), 7);

        assertThat(consumer)
                .containsEntry("group.id", "g")
                .containsEntry("partition.assignment.strategy", TopologyAssignor.class.getName());
        assertThat(TopologyAssignor.name(7)).isEqualTo("lendstream-topology-7");
    }
}
