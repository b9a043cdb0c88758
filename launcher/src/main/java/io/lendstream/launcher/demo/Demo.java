package io.lendstream.launcher.demo;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
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
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The whole loop, from an empty directory to a report. */
public final class Demo {
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();
    /** The domain that a demo plays in. */
    public static final String DOMAIN = "demo";

    private static final Duration REDRAW = Duration.ofMillis(500);
    private static final Duration LINE_EVERY = Duration.ofSeconds(5);

    private final DemoOptions options;
    private final PrintStream out;
    private final long began = System.nanoTime();
    private volatile boolean stopping;

    public Demo(DemoOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Whether every promise was kept. */
    public boolean run() {
        Bounds.checkOut(options.out());
        Thread hook = new Thread(this::stopped, "demo-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        try (Stack stack = Stack.start(options.stack(), Installation.find(), this::say)) {
            return run(stack);
        } finally {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // this is the shutdown
            }
        }
    }

    /** What a signal is answered with, while the stack stops beside. */
    private void stopped() {
        stopping = true;
        say("stopped; no report is written (--seconds N ends a demo early with one)");
    }

    @SuppressWarnings("try") // the onlooker works by itself until it is closed
    private boolean run(Stack stack) {
        Topics topics =
                new Topics(stack.bootstrapServers(), stack.confluentUrl().toString(), CATALOGUE);
        Preparation.of(topics.kafka(), CATALOGUE);
        say("starting forecaster, scheduler, actuator and agent");
        DemoServices services = new DemoServices(stack, options);
        services.start();
        LiveState picture = new LiveState();
        FactsCollector facts = new FactsCollector(options.policy() + ", lending on", true);
        Path played = stack.dataDirectory().resolve("played");
        RunningChild load;
        try (TopicTail onlooker = TopicTail.of(topics, record -> {
            picture.tell(record);
            take(facts, record);
        })) {
            say("playing %s on %d training and %d inference GPUs"
                    .formatted(
                            options.workload(),
                            options.scene().trainingGpus(),
                            options.scene().inferenceGpus()));
            load = services.play(played);
            watch(stack, load, picture);
        }
        say("reading the history back");
        HistoryCheck judge = new HistoryCheck(topics, new DomainId(DOMAIN));
        long memory = memory(stack);
        Verdict verdict = judge.verdict(judge.decisions());
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

    /** Shows the picture until the play has ended. */
    private void watch(Stack stack, RunningChild load, LiveState picture) {
        boolean terminal = !options.headless() && picocli.CommandLine.Help.Ansi.AUTO.enabled();
        Screen screen = new Screen(out, terminal, "Lendstream demo: " + options.workload());
        Optional<LivePage> page = options.headless()
                ? Optional.empty()
                : Optional.of(LivePage.start(options.port(), () -> screen.table(picture.snapshot(), elapsed())));
        page.ifPresent(live -> say("live view on " + live.url()));
        Duration every = terminal ? REDRAW : LINE_EVERY;
        try {
            while (!ended(stack, load, every) && !stopping) {
                screen.show(picture.snapshot(), elapsed());
            }
            screen.show(picture.snapshot(), elapsed());
        } finally {
            page.ifPresent(LivePage::close);
        }
    }

    /** Waits that long for the end of the play. */
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
