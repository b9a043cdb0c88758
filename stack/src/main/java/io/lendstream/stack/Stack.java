package io.lendstream.stack;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A running broker and registry, with the services started beside them.
 *
 * <p>{@link #start} returns when both are ready. {@link #close} stops everything in reverse order and deletes the
 * files of the run; the end of this JVM does the same, by Ctrl-C too. After a failure, the files in a directory named
 * by the user are kept. If this JVM is killed, the children end by themselves.
 */
public final class Stack implements AutoCloseable {

    private static final String HOST = "127.0.0.1";
    private static final String LOGS = "logs";
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration PATIENCE = ChildMain.GRACE.plusSeconds(1);
    private static final Duration PATIENCE_IN_ALL = Duration.ofSeconds(40);

    private final StackSettings settings;
    private final Installation installation;
    private final Consumer<String> narrator;
    private final DataDirectory data;
    private final int brokerPort;
    private final int registryPort;
    private final List<RunningChild> children = new ArrayList<>(); // guarded by itself
    private final CompletableFuture<StackException> failure = new CompletableFuture<>();
    private final ScheduledExecutorService supervisor = Executors.newSingleThreadScheduledExecutor(Stack::daemon);
    private final Thread shutdownHook = new Thread(this::close, "stack-shutdown");
    private volatile boolean stopping;
    private boolean closed;

    private Stack(StackSettings settings, Installation installation, Consumer<String> narrator) {
        this.settings = settings;
        this.installation = installation;
        this.narrator = narrator;
        this.brokerPort = Ports.resolve("--broker-port", settings.broker().port());
        this.registryPort = Ports.resolve("--registry-port", settings.registryPort());
        this.data = DataDirectory.open(settings.dataDirectory());
    }

    /**
     * Starts broker and registry and waits until both are ready.
     *
     * @param narrator receives a line for each step
     * @throws StackException if that fails, with one line; no process is left running then
     */
    public static Stack start(StackSettings settings, Installation installation, Consumer<String> narrator) {
        List<Path> broker = installation.classPath("embedded"); // fails at once if a module is not built
        List<Path> registry = installation.registryClassPath();
        var stack = new Stack(settings, installation, narrator);
        try {
            Runtime.getRuntime().addShutdownHook(stack.shutdownHook);
            stack.startBase(broker, registry);
            return stack;
        } catch (RuntimeException e) {
            stack.failure.complete(
                    e instanceof StackException known ? known : new StackException(String.valueOf(e.getMessage()), e));
            stack.close();
            throw e;
        }
    }

    private void startBase(List<Path> brokerClassPath, List<Path> registryClassPath) {
        narrator.accept("starting broker and registry");
        var deadline = System.nanoTime() + settings.startTimeout().toNanos();
        // The registry keeps its schemas in memory and so needs no broker: both start at once.
        RunningChild broker = start(broker(brokerClassPath));
        RunningChild registry = start(registry(registryClassPath));
        awaitReady(
                broker,
                Readiness.broker(HOST, brokerPort, settings.broker().client()),
                Duration.ofNanos(deadline - System.nanoTime()));
        awaitReady(
                registry,
                Readiness.http(registryUrl().resolve("/apis/ccompat/v7/subjects")),
                Duration.ofNanos(deadline - System.nanoTime()));
    }

    private Child broker(List<Path> classPath) {
        var arguments = new ArrayList<String>(List.of(
                "--data-dir", data.sub("broker").toString(),
                "--port", String.valueOf(brokerPort),
                "--controller-port", String.valueOf(controllerPort())));
        new TreeMap<>(settings.broker().properties()).forEach((key, value) -> {
            arguments.add("--set");
            arguments.add(key + "=" + value);
        });
        return new Child(
                        "broker",
                        classPath,
                        "io.lendstream.embedded.BrokerMain",
                        settings.broker().jvm())
                .withArguments(arguments);
    }

    private int controllerPort() {
        int port = Ports.free();
        while (port == brokerPort || port == registryPort) {
            port = Ports.free();
        }
        return port;
    }

    private Child registry(List<Path> classPath) {
        return new Child(
                "registry",
                classPath,
                Installation.mainClassOf(classPath.get(classPath.size() - 1)),
                List.of(),
                Map.of(
                        "quarkus.http.host", HOST,
                        "quarkus.http.port", String.valueOf(registryPort),
                        "quarkus.banner.enabled", "false",
                        "quarkus.log.level", "WARN",
                        "quarkus.log.category.\"io.apicurio\".level", "WARN"),
                new Jvm(128, 160, Jvm.Compiler.QUICK),
                OnExit.endsTheRun());
    }

    public String bootstrapServers() {
        return HOST + ":" + brokerPort;
    }

    /** The root of the registry. */
    public URI registryUrl() {
        return URI.create("http://" + HOST + ":" + registryPort);
    }

    /** The Confluent-compatible interface of the registry: the value of {@code schema.registry.url}. */
    public URI confluentUrl() {
        return registryUrl().resolve("/apis/ccompat/v7");
    }

    public Installation installation() {
        return installation;
    }

    public Path dataDirectory() {
        return data.path();
    }

    /** All started children, in order. */
    public List<RunningChild> children() {
        synchronized (children) {
            return List.copyOf(children);
        }
    }

    /** Completes with the reason if the run cannot continue. */
    public CompletableFuture<StackException> failure() {
        return failure.copy();
    }

    /** Starts a child and watches it. */
    public RunningChild start(Child child) {
        synchronized (children) {
            if (stopping) {
                throw new StackException("%s is not started: the run is ending.".formatted(child.name()));
            }
            if (children.stream().anyMatch(other -> other.name().equals(child.name()))) {
                throw new IllegalArgumentException(
                        "a child named %s runs already; name the next differently".formatted(child.name()));
            }
            Path log = data.sub(LOGS).resolve(child.name() + ".log");
            var running = new RunningChild(child, log, launch(child, log));
            children.add(running);
            watch(running);
            return running;
        }
    }

    /** Waits until a child is ready. */
    public void awaitReady(RunningChild child, Readiness readiness, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!readiness.isReady()) {
            try {
                throw failure.get(POLL.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw new StackException(
                            "%s is not ready after %d s; its log is %s."
                                    .formatted(child.name(), timeout.toSeconds(), child.log()),
                            child.lastLines());
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException("a failure is never completed exceptionally", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StackException("interrupted while waiting for " + child.name(), e);
            }
        }
    }

    /**
     * Stops everything in reverse order, within time limits, and deletes the files of the run. After a failure the
     * logs are kept, and all files in a directory named by the user.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<RunningChild> running;
        synchronized (children) {
            stopping = true;
            running = new ArrayList<>(children);
        }
        supervisor.shutdownNow();
        long deadline = System.nanoTime() + PATIENCE_IN_ALL.toNanos();
        for (int i = running.size() - 1; i >= 0; i--) {
            long left = Math.max(0, deadline - System.nanoTime());
            running.get(i).process().stop(Duration.ofNanos(Math.min(left, PATIENCE.toNanos())));
        }
        leaveFiles();
        removeShutdownHook();
    }

    private void leaveFiles() {
        if (settings.keepData()) {
            data.release();
            narrator.accept("all files of this run are kept in " + data.path());
        } else if (failure.isDone()
                && settings.dataDirectory().isPresent()
                && !children().isEmpty()) {
            data.release();
            narrator.accept("after the failure, all files of this run are kept in " + data.path());
        } else if (failure.isDone() && !children().isEmpty()) {
            data.deleteAllBut(LOGS);
            narrator.accept("the logs of this run are kept in " + data.path().resolve(LOGS));
        } else {
            data.delete();
        }
    }

    private void removeShutdownHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            // this is the shutdown
        }
    }

    private ChildProcess launch(Child child, Path log) {
        return ChildProcess.start(child, log, data.sub(child.name()));
    }

    private void watch(RunningChild running) {
        ChildProcess process = running.process();
        var unused = process.exit().thenAccept(code -> {
            try {
                supervisor.execute(() -> ended(running, code));
            } catch (RejectedExecutionException e) {
                // the run is ending
            }
        });
    }

    private void ended(RunningChild running, int code) {
        if (stopping) {
            return;
        }
        OnExit onExit = running.child().onExit();
        if (onExit instanceof OnExit.Finishes && code == 0) {
            running.markFinished();
        } else if (onExit instanceof OnExit.Restart restart && code != OnExit.WRONG_USE) {
            int restarts = running.ranNanos() < OnExit.Restart.WELL_AGAIN.toNanos() ? running.restarts() : 0;
            if (restarts < restart.times()) {
                restartLater(running, restarts + 1, restart, code);
            } else {
                fail(running, code, " after %d restarts".formatted(restarts));
            }
        } else {
            fail(running, code, "");
        }
    }

    private void restartLater(RunningChild running, int count, OnExit.Restart restart, int code) {
        Duration delay = restart.delayBefore(count);
        narrator.accept("%s ended with exit code %d; starting it again in %d ms (%d of %d)"
                .formatted(running.name(), code, delay.toMillis(), count, restart.times()));
        var unused = supervisor.schedule(() -> restart(running, count), delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void restart(RunningChild running, int count) {
        synchronized (children) {
            if (!stopping) {
                running.restarted(launch(running.child(), running.log()), count);
                watch(running);
            }
        }
    }

    private void fail(RunningChild running, int code, String history) {
        failure.complete(new StackException(
                "%s ended with exit code %d%s; its log is %s.".formatted(running.name(), code, history, running.log()),
                running.lastLines()));
    }

    private static Thread daemon(@Nullable Runnable body) {
        var thread = new Thread(body, "stack-supervisor");
        thread.setDaemon(true);
        return thread;
    }
}
