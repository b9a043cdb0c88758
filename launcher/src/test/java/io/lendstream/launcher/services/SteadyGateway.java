package io.lendstream.launcher.services;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reports about 100 requests/s of each service, two windows a step, by the clock of this machine, until it is closed. */
final class SteadyGateway implements AutoCloseable {
    private final KafkaSettings kafka;
    private final Duration window;
    private final List<ServiceId> services;
    private final Thread thread = new Thread(this::report, "traffic");

    private volatile boolean over;

    SteadyGateway(KafkaSettings kafka, Duration step, List<ServiceId> services) {
        this.kafka = kafka;
        this.window = step.dividedBy(2);
        this.services = services;
    }

    void start() {
        thread.start();
    }

    private void report() {
        Instant at = Instant.ofEpochSecond(Instant.now().getEpochSecond());
        try (RecordWriter writer = RecordWriter.open(kafka, Deployment.TOPICS, "/test")) {
            for (long sequence = 1; !over; sequence++) {
                Instant end = at.plus(window);
                while (Instant.now().isBefore(end)) {
                    TimeUnit.MILLISECONDS.sleep(10);
                }
                for (ServiceId service : services) {
                    writer.write(TopicCatalogue.REQUEST_RATES, service.value(), rate(service, sequence, at, end));
                }
                writer.flush();
                at = end;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static RequestRate rate(ServiceId service, long sequence, Instant start, Instant end) {
        return new RequestRate(
                service,
                new DomainId("default"),
                "gateway",
                "boot-1",
                sequence,
                start,
                end,
                new RequestRate.Requests(50 + sequence % 3, 50, 0, 0),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    @Override
    public void close() {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
