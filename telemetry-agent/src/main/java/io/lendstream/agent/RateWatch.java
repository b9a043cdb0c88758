package io.lendstream.agent;

import io.lendstream.agent.publish.RecordSink;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Window;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads all endpoints and pods, several at a time, and publishes the resulting windows. */
final class RateWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RateWatch.class);
    private static final int AT_A_TIME = 4;

    private final List<RateProbe> probes;
    private final Optional<PodProbes> pods;
    private final RecordSink outbox;
    private final ExecutorService threads;

    /** @param pods supplies this node's current pods; empty if pods are not used */
    RateWatch(List<RateProbe> probes, Optional<PodProbes> pods, RecordSink outbox) {
        this.probes = List.copyOf(probes);
        this.pods = pods;
        this.outbox = outbox;
        int most = pods.isPresent() ? AT_A_TIME : Math.max(1, Math.min(AT_A_TIME, probes.size()));
        this.threads = Executors.newFixedThreadPool(most, body -> {
            var thread = new Thread(body, "rates");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Reads each endpoint once. A failed reading does not delay the windows of others. */
    void look() {
        if (threads.isShutdown()) {
            return;
        }
        List<Future<List<Window>>> readings = new ArrayList<>();
        probes.forEach(probe -> readings.add(threads.submit(() -> probe.look())));
        pods.ifPresent(all -> {
            all.readings().forEach(reading -> readings.add(threads.submit(reading)));
            all.farewells().forEach(this::tell);
        });
        for (Future<List<Window>> reading : readings) {
            try {
                reading.get().forEach(this::tell);
            } catch (ExecutionException e) {
                LOG.error("an endpoint cannot be read", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void tell(Window window) {
        outbox.publish(
                TopicCatalogue.REQUEST_RATES,
                window.rate().service().value(),
                window.rate(),
                window.remarks().stream().map(Window.Remark::word).toList());
    }

    boolean isEmpty() {
        return probes.isEmpty() && pods.isEmpty();
    }

    /** Interrupts running readings, and starts no more. */
    void stop() {
        threads.shutdownNow();
    }

    @Override
    public void close() {
        stop();
    }
}
