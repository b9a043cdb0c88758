package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.actuator.standby.Active;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** An error ends the thread that reads or sends; the actuator must not go on without it and call itself ready. */
class EndedThreadTest {
    private static final RecordTransport.Routes NOWHERE = new RecordTransport.Routes() {
        @Override
        public void on(RecordReader reader, Executor to) {}

        @Override
        public void joined(List<ActuationReport> reportsSince) {}
    };

    /** Clients by which reading, or any other work, overflows the stack. */
    private static final Clients OVERFLOWING = new Clients() {
        @Override
        public String where() {
            return "nowhere:9092";
        }

        @Override
        public void check() {
            throw new StackOverflowError();
        }

        @Override
        public RecordReader reader() {
            throw new StackOverflowError();
        }

        @Override
        public RecordReader reportReader() {
            throw new StackOverflowError();
        }

        @Override
        public RecordWriter writer(Optional<String> transactionalId) {
            throw new StackOverflowError();
        }
    };

    @Test
    void anErrorWhileReadingEndsTheActuator() {
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        try (var transport = new BackgroundTransport(
                "actuator",
                OVERFLOWING,
                Duration.ofSeconds(1),
                new BackgroundTransport.Writers("", false, Active.ALONE),
                new ReportOutbox())) {
            assertThatThrownBy(() ->
                            transport.start(ActuatorState.empty("actuator"), NOWHERE, () -> System.nanoTime() > end))
                    .hasRootCauseInstanceOf(StackOverflowError.class);
        }
    }
}
