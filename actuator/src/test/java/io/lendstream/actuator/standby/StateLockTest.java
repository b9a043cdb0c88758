package io.lendstream.actuator.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class StateLockTest {
    private final List<String> waitedFor = new ArrayList<>();

    @TempDir
    Path directory;

    /** A process that locks a file and holds it. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws IOException, InterruptedException {
            try (FileChannel channel = FileChannel.open(
                            Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                Files.writeString(Path.of(arguments[1]), String.valueOf(lock.isValid()));
                TimeUnit.HOURS.sleep(1);
            }
        }
    }

    @Test
    void aFreeDirectoryIsLockedAndNamesItsHolderToItsUserOnly() throws IOException {
        try (StateLock lock = lockAtOnce().orElseThrow()) {
            assertThat(lock).isNotNull();
            assertThat(waitedFor).isEmpty();
            Path file = directory.resolve(StateLock.FILE);
            assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
        }
        assertThat(Files.readString(directory.resolve(StateLock.FILE)))
                .startsWith("pid %d on ".formatted(ProcessHandle.current().pid()));
    }

    @Test
    void aSecondInstanceOfThisProcessWaitsUntilTheFirstEnds() {
        StateLock first = lockAtOnce().orElseThrow();

        assertThat(lockAtOnce()).isEmpty();
        assertThat(waitedFor).containsExactly("this process");

        first.close();
        Optional<StateLock> second = lockAtOnce();
        assertThat(second).isPresent();
        second.orElseThrow().close();
    }

    @Test
    void theLockOfAKilledProcessIsFree() throws IOException, InterruptedException {
        Path isLocked = directory.resolve("is-locked");
        Process holder = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        directory.resolve(StateLock.FILE).toString(),
                        isLocked.toString())
                .inheritIO()
                .start();
        try {
            await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(isLocked));

            assertThat(lockAtOnce()).isEmpty();
            assertThat(waitedFor).containsExactly("another instance");

            holder.destroyForcibly().waitFor();
            Optional<StateLock> lock = StateLock.await(directory, StateLockTest::sleep, waitedFor::add);
            assertThat(lock).isPresent();
            lock.orElseThrow().close();
        } finally {
            holder.destroyForcibly();
        }
    }

    private static boolean sleep(Duration length) {
        try {
            TimeUnit.NANOSECONDS.sleep(length.toNanos());
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    private Optional<StateLock> lockAtOnce() {
        return StateLock.await(directory, any -> true, waitedFor::add);
    }
}
