package io.lendstream.launcher.demo;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Preparation;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Printable;
import io.lendstream.simulator.report.FactsCollector;
import io.lendstream.stack.Installation;
import io.lendstream.stack.RunningChild;
import io.lendstream.stack.Stack;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the whole system, from an empty directory to a report. */
public final class Demo {
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();
    /** The domain of a demo. */
    public static final String DOMAIN = "demo";

    private static final Duration REDRAW = Duration.ofMillis(500);
    private static final Duration LINE_EVERY = Duration.ofSeconds(5);
    private static final Duration LONGEST_STOP = Duration.ofSeconds(30);
    private static final long POLL_MILLIS = 100;

    private final DemoOptions options;
    private final PrintStream out;
    private final long began = System.nanoTime();
    private final Instant started = Instant.now();
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile String phase = "starting";
    private volatile Optional<Stack> running = Optional.empty();

    public Demo(DemoOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Runs the demo; false if its history breaks a promise, or if it was stopped. */
    public boolean run() {
        Bounds.checkOut(options.out());
        Policies.parse(options.policy()).info().warning().ifPresent(warning -> say("warning: " + warning));
        Thread hook = new Thread(this::stopped, "demo-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        try (Stack stack = Stack.start(options.stack(), Installation.find(), this::say)) {
            running = Optional.of(stack);
            return run(stack);
        } catch (RuntimeException e) {
            if (stopping) {
                return false; // the signal is the cause, and the shutdown reports it
            }
            throw e;
        } finally {
            finished.countDown();
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // this is the shutdown
            }
        }
    }

    /** Handles a signal, while the stack stops in its own hook. The report may still be completed. */
    private void stopped() {
        String stoppedIn = phase;
        stopping = true;
        say("stopping");
        long until = System.nanoTime() + LONGEST_STOP.toNanos();
        try {
            boolean over = false;
            while (!over) {
                over = finished.await(POLL_MILLIS, TimeUnit.MILLISECONDS) || !isRunning() || System.nanoTime() > until;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Path report = options.out().resolve("report.html");
        say(
                isNew(report)
                        ? "report: " + report
                        : "no report: stopped while %s (--seconds N ends a demo early with a report)"
                                .formatted(stoppedIn));
    }

    private boolean isRunning() {
        return running.map(Stack::children).orElse(List.of()).stream().anyMatch(RunningChild::isAlive);
    }

    /** Whether a file was written in this run. */
    private boolean isNew(Path file) {
        try {
            return Files.getLastModifiedTime(file).toInstant().isAfter(started);
        } catch (IOException e) {
            return false;
        }
    }

    @SuppressWarnings("try") // the tail works in its own thread until it is closed
    private boolean run(Stack stack) {
        Topics topics =
                new Topics(stack.bootstrapServers(), stack.confluentUrl().toString(), CATALOGUE);
        Preparation.of(topics.kafka(), CATALOGUE);
        say("starting forecaster, scheduler, actuator and agent");
        DemoServices services = new DemoServices(stack, options);
        services.start();
        LiveState state = new LiveState();
        FactsCollector facts = new FactsCollector(options.policy() + ", lending on", true);
        Path played = stack.dataDirectory().resolve("played");
        RunningChild load;
        try (TopicTail tail = TopicTail.of(topics, record -> {
            state.tell(record);
            take(facts, record);
        })) {
            phase = "playing the workload";
            say("playing %s on %d training and %d inference GPUs"
                    .formatted(
                            options.title(),
                            options.scene().trainingGpus(),
                            options.scene().inferenceGpus()));
            load = services.play(played);
            watch(stack, load, state);
        }
        if (stopping) {
            return false;
        }
        phase = "reading the history back";
        say("reading the history back");
        HistoryCheck check = new HistoryCheck(topics, new DomainId(DOMAIN));
        long memory = memory(stack);
        Verdict verdict = check.verdict(check.decisions());
        phase = "replaying the input for the report";
        new DemoSummary(options, out, played).tell(facts, verdict, memory);
        return verdict.isContent();
    }

    private static void take(FactsCollector facts, Object record) {
        if (record instanceof Event event) {
            facts.take(event);
        } else if (record instanceof Lease lease) {
            facts.take(lease);
        } else if (record instanceof Decision decision) {
            facts.take(decision);
        }
    }

    /** Shows the live state until the workload has ended. */
    private void watch(Stack stack, RunningChild load, LiveState state) {
        boolean terminal = !options.headless() && picocli.CommandLine.Help.Ansi.AUTO.enabled();
        Screen screen = new Screen(out, terminal, "Lendstream demo: " + options.title());
        Optional<LivePage> page = options.headless()
                ? Optional.empty()
                : Optional.of(LivePage.start(options.port(), () -> screen.table(state.snapshot(), elapsed())));
        page.ifPresent(live -> say("live view on " + live.url()));
        Duration every = terminal ? REDRAW : LINE_EVERY;
        try {
            while (!ended(stack, load, every) && !stopping) {
                screen.show(state.snapshot(), elapsed());
            }
            screen.show(state.snapshot(), elapsed());
        } finally {
            page.ifPresent(LivePage::close);
        }
    }

    /** Waits for the end of the workload, up to this time. */
    private static boolean ended(Stack stack, RunningChild load, Duration patience) {
        try {
            load.finished().get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            if (stack.failure().isDone()) {
                throw stack.failure().join();
            }
            return false;
        } catch (ExecutionException e) {
            throw UserError.failed("the load generator failed; its log is " + load.log());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw UserError.failed("interrupted while playing");
        }
    }

    private static long memory(Stack stack) {
        long children = stack.children().stream()
                .mapToLong(child -> child.residentBytes().orElse(0))
                .sum();
        return children
                + RunningChild.residentBytes(ProcessHandle.current().pid()).orElse(0);
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private void say(String line) {
        out.println(Printable.line("%s  %s".formatted(Screen.clock(elapsed()), line)));
        out.flush();
    }
}
