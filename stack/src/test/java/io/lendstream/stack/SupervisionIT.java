package io.lendstream.stack;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class SupervisionIT {

    private final List<String> told = new CopyOnWriteArrayList<>();

    @TempDir
    private Path directory;

    private Stack stack;

    @BeforeEach
    void start() {
        stack = Stack.start(
                StackSettings.defaults().withDataDirectory(directory.resolve("run")), Installation.find(), told::add);
    }

    @AfterEach
    void stop() {
        stack.close();
    }

    @Test
    void aServiceThatDiesComesBack() {
        RunningChild service = stack.start(child("service", Sleeper.class).onExit(OnExit.restart(1)));
        long first = service.pid();

        ProcessHandle.of(first).orElseThrow().destroyForcibly();

        await().atMost(20, SECONDS)
                .untilAsserted(() -> assertThat(service.pid()).isNotEqualTo(first));
        assertThat(service.isAlive()).isTrue();
        assertThat(service.restarts()).isEqualTo(1);
        assertThat(told).contains("service ended with exit code 137; starting it again in 1000 ms (1 of 1)");
        assertThat(stack.failure()).isNotDone();
    }

    @Test
    void aServiceThatDiesTooOftenEndsTheRunWithItsLastWords() throws Exception {
        stack.start(child("service", Failing.class).onExit(new OnExit.Restart(2, Duration.ofMillis(10))));

        StackException failure = stack.failure().get(30, SECONDS);
        stack.close();

        Path log = directory.resolve("run/logs/service.log");
        assertThat(failure).hasMessage("service ended with exit code 3 after 2 restarts; its log is " + log + ".");
        assertThat(failure.lastLines()).endsWith("no GPU to be seen");
        assertThat(log).exists();
        assertThat(directory.resolve("run/broker"))
                .as("the topics, in a directory that the user named")
                .isNotEmptyDirectory();
        assertThat(told).contains("after the failure, all files of this run are kept in " + directory.resolve("run"));
    }

    @Test
    void aServiceWithInvalidUsageIsNotRestarted() throws Exception {
        stack.start(child("service", Misled.class).onExit(OnExit.restart(3)));

        assertThat(stack.failure().get(30, SECONDS)).hasMessageStartingWith("service ended with exit code 2; its log");
        assertThat(told).noneMatch(line -> line.contains("starting it again"));
    }

    @Test
    void aBrokerThatDiesEndsTheRun() throws Exception {
        RunningChild broker = stack.children().get(0);
        ProcessHandle.of(broker.pid()).orElseThrow().destroyForcibly();

        assertThat(stack.failure().get(20, SECONDS)).hasMessageStartingWith("broker ended with exit code 137");
    }

    @Test
    void aChildWithATaskFinishes() throws Exception {
        RunningChild task =
                stack.start(child("task", Task.class).withArguments("done").onExit(OnExit.finishes()));

        task.finished().get(20, SECONDS);

        assertThat(Files.readAllLines(task.log())).containsExactly("done");
        assertThat(stack.failure()).isNotDone();
    }

    @Test
    void whatIsAskedToEndMayFinishItsWorkFirst() throws IOException {
        RunningChild service = stack.start(child("service", Orderly.class));
        await().atMost(20, SECONDS)
                .untilAsserted(() -> assertThat(service.log()).content().contains("working"));
        Path farewell = directory.resolve("farewell");

        assertThat(farewell).doesNotExist();
        stack.close();

        assertThat(Files.readString(farewell)).isEqualTo("bye");
    }

    private Child child(String name, Class<?> main) {
        try {
            Path classes = Path.of(
                    main.getProtectionDomain().getCodeSource().getLocation().toURI());
            return new Child(name, List.of(classes), main.getName(), Jvm.quick(16))
                    .withSystemProperty(
                            "farewell", directory.resolve("farewell").toString());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs until its input ends. */
    public static final class Sleeper {
        public static void main(String[] args) throws InterruptedException {
            new java.util.concurrent.CountDownLatch(1).await();
        }
    }

    /** Never gets anywhere. */
    public static final class Failing {
        public static void main(String[] args) {
            System.err.println("no GPU to be seen");
            System.exit(3);
        }
    }

    /** Ends with the exit code of invalid usage. */
    public static final class Misled {
        public static void main(String[] args) {
            System.exit(2);
        }
    }

    /** Says its argument and is done. */
    public static final class Task {
        public static void main(String[] args) {
            System.out.println(args[0]);
        }
    }

    /** Says goodbye. */
    public static final class Orderly {
        public static void main(String[] args) throws InterruptedException {
            Path farewell = Path.of(System.getProperty("farewell"));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    Files.writeString(farewell, "bye");
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }));
            System.out.println("working");
            new java.util.concurrent.CountDownLatch(1).await();
        }
    }
}
