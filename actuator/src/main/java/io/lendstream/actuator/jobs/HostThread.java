package io.lendstream.actuator.jobs;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The single thread for all work on a host's jobs. An error in one task does not end it. */
final class HostThread {
    private static final Logger LOG = LoggerFactory.getLogger(HostThread.class);
    private static final Duration CLOSE = Duration.ofSeconds(5);

    private final ErrorLog errors;
    private final ScheduledExecutorService events = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "jobs");
        thread.setDaemon(true);
        return thread;
    });

    /** @param errors log for errors of tasks */
    HostThread(ErrorLog errors) {
        this.errors = errors;
    }

    /** Runs a task soon, unless the thread is closed. */
    void submit(Runnable task) {
        try {
            events.execute(guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.debug("the host is closed", e);
        }
    }

    /** Runs a task repeatedly, with a pause in between. */
    void repeat(Runnable task, long pauseMillis) {
        var unused = events.scheduleWithFixedDelay(guarded(task), 0, pauseMillis, TimeUnit.MILLISECONDS);
    }

    /** Runs a task once, after a delay. */
    void submitLater(Runnable task, long millis) {
        var unused = events.schedule(guarded(task), millis, TimeUnit.MILLISECONDS);
    }

    /** Waits for an answer. Must not be called on the thread itself. */
    <T> T ask(Callable<T> question) {
        try {
            return events.submit(question).get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the host cannot list its tenants", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                errors.error("handling a job's event failed: " + e, e);
            }
        };
    }

    boolean isClosed() {
        return events.isShutdown();
    }

    /** Finishes the current task and drops the others. */
    void close() throws InterruptedException {
        events.shutdownNow();
        events.awaitTermination(CLOSE.toSeconds(), TimeUnit.SECONDS);
    }
}
