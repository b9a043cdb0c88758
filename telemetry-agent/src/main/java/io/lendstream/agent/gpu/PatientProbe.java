package io.lendstream.agent.gpu;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.NodeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads on a thread of its own with a time limit: a driver that hangs must not hang the agent. Meanwhile no second
 * read starts, and the result is the last snapshot.
 */
final class PatientProbe implements GpuProbe {
    private static final Logger LOG = LoggerFactory.getLogger(PatientProbe.class);

    private final NodeReader looker;
    private final Duration patience;
    private final Duration settle;
    private final ExecutorService thread;
    private Optional<Future<GpuSnapshot>> underWay = Optional.empty();
    private Optional<String> paused = Optional.empty();
    private boolean resumed;
    private Optional<Instant> settled = Optional.empty();
    private List<Gpu> lastSeen = List.of();
    private Optional<String> driverVersion = Optional.empty();

    /**
     * @param name name of the thread
     * @param settle time after a pause before the reported layout is accepted
     */
    PatientProbe(String name, NodeReader looker, Duration patience, Duration settle) {
        this.looker = looker;
        this.patience = patience;
        this.settle = settle;
        this.thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work, name);
            made.setDaemon(true);
            return made;
        });
    }

    @Override
    public synchronized GpuSnapshot look(Instant now) {
        if (paused.isPresent()) {
            return GpuSnapshot.without(NodeStatus.PAUSED, paused.get(), lastSeen, driverVersion);
        }
        if (resumed) {
            settled = Optional.of(now.plus(settle));
            resumed = false;
        }
        if (settled.isPresent() && now.isBefore(settled.get())) {
            return GpuSnapshot.without(
                    NodeStatus.PAUSED,
                    "resumed; waiting %d s for the driver to settle".formatted(settle.toSeconds()),
                    lastSeen,
                    driverVersion,
                    Duration.between(now, settled.get()));
        }
        settled = Optional.empty();
        return lookedAt(now);
    }

    private GpuSnapshot lookedAt(Instant now) {
        try {
            underWay = underWay.filter(late -> !late.isDone()); // its result is outdated
            Future<GpuSnapshot> look = underWay.orElseGet(() -> thread.submit(() -> looker.look(now)));
            underWay = Optional.of(look);
            GpuSnapshot sight = look.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            underWay = Optional.empty();
            lastSeen = sight.gpus();
            driverVersion = sight.driverVersion();
            return sight;
        } catch (TimeoutException e) {
            return unavailable("no answer within %s; still waiting".formatted(patience));
        } catch (ExecutionException e) {
            underWay = Optional.empty();
            LOG.warn("reading the GPUs failed; it is retried at the next sample", e.getCause());
            return unavailable("looking failed: " + e.getCause());
        } catch (RejectedExecutionException e) {
            return unavailable("the probe was closed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return unavailable("the agent was interrupted");
        }
    }

    private GpuSnapshot unavailable(String why) {
        return GpuSnapshot.without(NodeStatus.UNAVAILABLE, why, lastSeen, driverVersion);
    }

    /** Waits until the driver is released, up to the time limit; a driver that hangs is released when it answers. */
    @Override
    public synchronized void pause(String why) {
        paused = Optional.of("paused: " + why);
        resumed = false;
        release();
    }

    private void release() {
        underWay = Optional.empty();
        try {
            thread.submit(looker::letGo).get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            LOG.warn("the driver has not answered within {}; it is released when it does", patience);
        } catch (ExecutionException e) {
            LOG.warn("cannot release the driver", e.getCause());
        } catch (RejectedExecutionException e) {
            LOG.debug("the driver was released before");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized void resume() {
        resumed = paused.isPresent();
        paused = Optional.empty();
    }

    @Override
    public synchronized void close() {
        release();
        thread.shutdown();
    }
}
