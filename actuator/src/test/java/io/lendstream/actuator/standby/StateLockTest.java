package io.lendstream.actuator.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.lendstream.service.settings.SettingsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
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
    private static final StateLock.Owner RACK_1 = new StateLock.Owner("rack-1", false);

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
                channel.write(ByteBuffer.wrap(arguments[2].getBytes(StandardCharsets.UTF_8)));
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
                .startsWith("pid %d on ".formatted(ProcessHandle.current().pid()))
                .endsWith("\nactuator rack-1\n");
    }

    /** It would wait for ever, as another actuator has no reason to end. */
    @Test
    void anotherActuatorDoesNotWaitForTheDirectory() {
        StateLock first = lockAtOnce().orElseThrow();

        for (StateLock.Owner other :
                List.of(new StateLock.Owner("rack-2", false), new StateLock.Owner("rack-1", true))) {
            assertThatExceptionOfType(SettingsException.class)
                    .isThrownBy(() -> lock(other))
                    .withMessage(
                            "actuator.state-dir is %s, which actuator rack-1 uses already (this process), but this one is %s. Give each actuator a directory of its own.",
                            directory, other);
        }
        assertThat(waitedFor).isEmpty();
        first.close();
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
    void anotherActuatorInAnotherProcessIsNamedToo() throws IOException, InterruptedException {
        Process holder = holder("pid 7 on gpu-1\nactuator rack-2 (dry run)\n");
        try {
            assertThatExceptionOfType(SettingsException.class)
                    .isThrownBy(() -> lock(RACK_1))
                    .withMessageContaining("which actuator rack-2 (dry run) uses already (pid 7 on gpu-1)");
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    @Test
    void theLockOfAKilledProcessIsFree() throws IOException, InterruptedException {
        Process holder = holder("");
        try {

            assertThat(lockAtOnce()).isEmpty();
            assertThat(waitedFor).containsExactly("another instance");

            holder.destroyForcibly().waitFor();
            Optional<StateLock> lock = lock(RACK_1);
            assertThat(lock).isPresent();
            lock.orElseThrow().close();
        } finally {
            holder.destroyForcibly();
        }
    }

    private Process holder(String words) throws IOException {
        Path isLocked = directory.resolve("is-locked");
        Process holder = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        directory.resolve(StateLock.FILE).toString(),
                        isLocked.toString(),
                        words)
                .inheritIO()
                .start();
        await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(isLocked));
        return holder;
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
        return StateLock.await(directory, RACK_1, any -> true, waitedFor::add);
    }

    private Optional<StateLock> lock(StateLock.Owner actuator) {
        return StateLock.await(directory, actuator, StateLockTest::sleep, waitedFor::add);
    }
}
