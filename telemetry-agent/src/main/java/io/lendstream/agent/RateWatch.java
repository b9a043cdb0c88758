package io.lendstream.agent;

import io.lendstream.agent.publish.Outbox;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Window;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads all endpoints, some at a time, and tells the windows that end. */
final class RateWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RateWatch.class);
    private static final int AT_A_TIME = 4;

    private final List<RateProbe> probes;
    private final Outbox outbox;
    private final ExecutorService threads;

    RateWatch(List<RateProbe> probes, Outbox outbox) {
        this.probes = List.copyOf(probes);
        this.outbox = outbox;
        this.threads = Executors.newFixedThreadPool(Math.max(1, Math.min(AT_A_TIME, probes.size())), body -> {
            var thread = new Thread(body, "rates");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Reads each endpoint once. One that fails does not keep the others from being told. */
    void look() {
        if (threads.isShutdown()) {
            return;
        }
        List<Future<List<Window>>> readings = new ArrayList<>();
        probes.forEach(probe -> readings.add(threads.submit(probe::look)));
        for (Future<List<Window>> reading : readings) {
            try {
                reading.get().forEach(this::tell);
            } catch (ExecutionException e) {
                LOG.error("an endpoint could not be read", e.getCause());
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
        return probes.isEmpty();
    }

    /** Breaks readings off, and reads no more. */
    void stop() {
        threads.shutdownNow();
    }

    @Override
    public void close() {
        stop();
    }
}
