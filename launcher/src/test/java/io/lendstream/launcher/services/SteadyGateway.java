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
import java.util.function.LongFunction;

/** Reports the requests of each service, two windows a step, by the clock of this machine, until it is closed. */
final class SteadyGateway implements AutoCloseable {
    private final KafkaSettings kafka;
    private final DomainId domain;
    private final Duration window;
    private final List<ServiceId> services;
    private final Thread thread = new Thread(this::report, "traffic");

    private volatile LongFunction<RequestRate.Requests> requests;
    private volatile boolean over;

    /** In the domain {@code default}; about 100 requests/s with a step of a second. */
    SteadyGateway(KafkaSettings kafka, Duration step, List<ServiceId> services) {
        this(
                kafka,
                new DomainId("default"),
                step,
                services,
                window -> new RequestRate.Requests(50 + window % 3, 50, 0, 0));
    }

    /** With so many requests in each window, which are all answered in it. */
    SteadyGateway(KafkaSettings kafka, DomainId domain, Duration step, ServiceId service, long each) {
        this(kafka, domain, step, List.of(service), window -> RequestRate.Requests.answered(each));
    }

    private SteadyGateway(
            KafkaSettings kafka,
            DomainId domain,
            Duration step,
            List<ServiceId> services,
            LongFunction<RequestRate.Requests> requests) {
        this.kafka = kafka;
        this.domain = domain;
        this.window = step.dividedBy(2);
        this.services = services;
        this.requests = requests;
    }

    /** From now on so many requests in each window, which are all answered in it. */
    void offer(long each) {
        requests = window -> RequestRate.Requests.answered(each);
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

    private RequestRate rate(ServiceId service, long sequence, Instant start, Instant end) {
        return new RequestRate(
                service,
                domain,
                "gateway",
                "boot-1",
                sequence,
                start,
                end,
                requests.apply(sequence),
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
