package io.lendstream.benchmarks;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The steady records of a cluster: node samples, request rates, progress of jobs, and zero rates of idle services.
 * Each kind has its own producer, which sends the records of some milliseconds in one request, as an agent does.
 */
final class SteadyTraffic implements AutoCloseable {
    /** Shorter than the linger time of the producers, so that it wakes up no more often than it sends. */
    private static final long REST_NANOS = 4_000_000;

    private final KafkaSettings kafka;
    private final List<LoadedDomain> domains;
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong samples = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Optional<Throwable> failure = Optional.empty();

    private interface Sender {
        void send(RecordWriter writer, long number);
    }

    /** @param kafka with the producer's patience ({@code linger.ms}) */
    SteadyTraffic(KafkaSettings kafka, List<LoadedDomain> domains) {
        this.kafka = kafka;
        this.domains = List.copyOf(domains);
    }

    /**
     * Starts the traffic.
     *
     * @param samplesPerSecond records of nodes, over all domains
     * @param ratesPerSecond records of request rates of steady services, over all domains
     */
    void start(double samplesPerSecond, double ratesPerSecond) {
        samples(samplesPerSecond);
        rates(ratesPerSecond);
        silence();
        progress();
    }

    private void samples(double perSecond) {
        List<GpuTelemetry> usual = new ArrayList<>();
        for (LoadedDomain domain : domains) {
            usual.addAll(domain.samples());
        }
        long[] sequences = new long[usual.size()];
        pace("samples", perSecond, (writer, i) -> {
            int at = (int) (i % usual.size());
            GpuTelemetry one = usual.get(at);
            writer.write(
                    TopicCatalogue.GPU_TELEMETRY,
                    one.nodeId().value(),
                    new GpuTelemetry(
                            one.nodeId(), one.domain(), one.bootId(), ++sequences[at], LoadedDomain.now(), one.gpus()));
            samples.incrementAndGet();
        });
    }

    /**
     * Each of enough sources reports once per second, or one source for each service less often; together they need
     * 60 % of a replica for each service.
     */
    private void rates(double perSecond) {
        long steady = (long) LoadedDomain.STEADY * domains.size();
        long sources = Math.max(steady, Math.round(perSecond));
        double each = 0.6 * LoadedDomain.CAPACITY * LoadedDomain.WINDOW.toSeconds() * steady / sources;
        pace("rates", perSecond, (writer, i) -> {
            long source = i % sources;
            LoadedDomain domain = turn(source);
            ServiceId service = domain.steady((int) (source / domains.size() % LoadedDomain.STEADY));
            writer.write(
                    TopicCatalogue.REQUEST_RATES,
                    service.value(),
                    domain.window(service, "source-" + source, i, Math.round(each)));
        });
    }

    /** Reports zero requests and zero forecasts for idle services. */
    private void silence() {
        int services = LoadedDomain.SPIKING * domains.size();
        pace("silence", services / (LoadedDomain.WINDOW.toSeconds() / 2.0), (writer, i) -> {
            LoadedDomain domain = turn(i);
            ServiceId service = domain.spiking((int) (i / domains.size() % LoadedDomain.SPIKING));
            writer.write(TopicCatalogue.REQUEST_RATES, service.value(), domain.window(service, "beat", i, 0));
            writer.write(TopicCatalogue.DEMAND_FORECASTS, service.value(), domain.nothing(service));
        });
    }

    private void progress() {
        int jobs = domains.stream().mapToInt(LoadedDomain::jobs).sum();
        pace("progress", jobs / 10.0, (writer, i) -> {
            var progress = turn(i).progress((int) (i % jobs / domains.size()), i);
            writer.write(TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress);
        });
    }

    private LoadedDomain turn(long number) {
        return domains.get((int) (number % domains.size()));
    }

    private void pace(String name, double perSecond, Sender sender) {
        var thread = new Thread(
                () -> {
                    try (RecordWriter writer =
                            RecordWriter.open(kafka, TopicCatalogue.standard(), "/lendstream/bench")) {
                        pace(writer, perSecond, sender);
                    } catch (RuntimeException | Error e) {
                        failure = Optional.of(e);
                    }
                },
                "bench-" + name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    private void pace(RecordWriter writer, double perSecond, Sender sender) {
        long began = System.nanoTime();
        for (long i = 0; !over.get() && perSecond > 0; ) {
            long due = (long) ((System.nanoTime() - began) / 1e9 * perSecond);
            for (; i < due; i++) {
                sender.send(writer, i);
                sent.incrementAndGet();
            }
            LockSupport.parkNanos(REST_NANOS);
        }
    }

    /** The number of records of all kinds. */
    long sent() {
        return sent.get();
    }

    /** The number of node samples. */
    long samples() {
        return samples.get();
    }

    /** The error that stopped it, if any. */
    Optional<Throwable> failure() {
        return failure;
    }

    @Override
    public void close() {
        over.set(true);
        for (Thread thread : threads) {
            try {
                thread.join(5000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
