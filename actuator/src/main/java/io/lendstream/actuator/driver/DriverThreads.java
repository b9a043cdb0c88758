package io.lendstream.actuator.driver;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;

/**
 * A driver's own threads. They keep no process alive, and ignore tasks after shutdown: work in progress at the close
 * may submit more, which the next driver handles.
 */
final class DriverThreads {
    private DriverThreads() {}

    static ExecutorService pool(int threads, String name) {
        return new ThreadPoolExecutor(
                threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(name), new DiscardPolicy());
    }

    static ScheduledExecutorService timer(String name) {
        return new ScheduledThreadPoolExecutor(1, daemons(name), new DiscardPolicy());
    }

    private static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
