package io.lendstream.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolTest {
    private static final long BOUND = 1 << 20;

    @TempDir
    Path directory;

    @Test
    void givesRecordsBackInOrderUntilTheyAreDelivered() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 0, 5);

            assertThat(texts(spool.oldest(3))).containsExactly("0", "1", "2");
            spool.deliveredBefore(2);
            assertThat(texts(spool.oldest(10))).containsExactly("2", "3", "4");
            assertThat(spool.waiting()).isEqualTo(3);
        }
    }

    @Test
    void keepsWhatWasNotDeliveredOverAStartAndGoesOnCounting() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 0, 5);
            spool.deliveredBefore(2);
        }
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 5, 6);

            assertThat(spool.oldest(10).first()).isEqualTo(2);
            assertThat(texts(spool.oldest(10))).containsExactly("2", "3", "4", "5");
        }
    }

    @Test
    void aProcessThatIsKilledLosesNothing() throws IOException {
        Path copy = directory.resolve("copy");
        try (Spool spool = Spool.open(directory.resolve("killed"), BOUND)) {
            append(spool, 0, 100);
            spool.deliveredBefore(40);
            copy(directory.resolve("killed"), copy); // as the system has it, without close
        }
        try (Spool spool = Spool.open(copy, BOUND)) {
            assertThat(spool.waiting()).isEqualTo(60);
            assertThat(texts(spool.oldest(1))).containsExactly("40");
        }
    }

    @Test
    void anEndThatIsNotWholeIsCutOff() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 0, 3);
        }
        Path file = segments().get(0);
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, java.util.Arrays.copyOf(whole, whole.length - 1));

        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 7, 8);
            assertThat(texts(spool.oldest(10))).containsExactly("0", "1", "7");
        }
    }

    @Test
    void aRecordThatIsNotAsItWasWrittenEndsItsSegment() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 0, 3);
        }
        Path file = segments().get(0);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] ^= 1;
        Files.write(file, bytes);

        try (Spool spool = Spool.open(directory, BOUND)) {
            assertThat(texts(spool.oldest(10))).containsExactly("0", "1");
        }
    }

    @Test
    void beyondItsBoundTheOldestGoAndAreCounted() throws IOException {
        try (Spool spool = Spool.open(directory, 20_000)) {
            byte[] record = new byte[1000];
            for (int i = 0; i < 100; i++) {
                spool.append(record);
            }

            assertThat(spool.bytes()).isLessThanOrEqualTo(20_000);
            assertThat(spool.waiting() + spool.lost()).isEqualTo(100);
            assertThat(spool.waiting()).isGreaterThan(10);
            assertThat(spool.oldest(1).first()).isEqualTo(spool.lost());
        }
    }

    @Test
    void deliveredRecordsDoNotCountAsLostAndLeaveTheDisk() throws IOException {
        try (Spool spool = Spool.open(directory, 20_000)) {
            for (int i = 0; i < 100; i++) {
                spool.append(new byte[1000]);
                spool.deliveredBefore(i + 1);
            }

            assertThat(spool.lost()).isZero();
            assertThat(spool.waiting()).isZero();
            assertThat(segments()).hasSize(1);
        }
        try (Spool spool = Spool.open(directory, 20_000)) {
            append(spool, 0, 1);
            assertThat(spool.oldest(5).first()).isEqualTo(100);
            assertThat(texts(spool.oldest(5))).containsExactly("0");
        }
    }

    @Test
    void aLostDeliveryPositionMeansRedeliveryAndNoLoss() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            append(spool, 0, 5);
            spool.deliveredBefore(3);
        }
        Files.write(directory.resolve("delivered"), new byte[] {1}, StandardOpenOption.TRUNCATE_EXISTING);

        try (Spool spool = Spool.open(directory, BOUND)) {
            assertThat(texts(spool.oldest(10))).containsExactly("0", "1", "2", "3", "4");
        }
    }

    @Test
    void twoAgentsDoNotShareADirectory() throws IOException {
        try (Spool spool = Spool.open(directory, BOUND)) {
            assertThat(spool.waiting()).isZero();
            assertThatThrownBy(() -> Spool.open(directory, BOUND)).hasMessage("another agent uses it");
        }
    }

    @Test
    void closesThoughAnInterruptHasClosedItsFilesAndLeavesTheDirectoryFree() throws IOException {
        Spool spool = Spool.open(directory, BOUND);
        append(spool, 0, 3);
        Thread.currentThread().interrupt();
        spool.oldest(3); // reads, and so closes the file of the records
        assertThat(Thread.interrupted()).isTrue();

        spool.close();

        try (Spool again = Spool.open(directory, BOUND)) {
            assertThat(again.waiting()).isEqualTo(3);
        }
    }

    @Test
    void inMemoryTheOldestGoToo() {
        try (var backlog = new MemoryBacklog(10)) {
            append(backlog, 0, 12);

            assertThat(backlog.lost()).as("two of the records have two bytes").isEqualTo(4);
            assertThat(backlog.oldest(2).first()).isEqualTo(4);
            backlog.deliveredBefore(5);
            assertThat(texts(backlog.oldest(2))).containsExactly("5", "6");
        }
    }

    private static void append(Backlog backlog, int from, int to) {
        IntStream.range(from, to).forEach(i -> backlog.append(String.valueOf(i).getBytes(StandardCharsets.UTF_8)));
    }

    private static List<String> texts(Backlog.Batch batch) {
        return batch.records().stream()
                .map(record -> new String(record, StandardCharsets.UTF_8))
                .toList();
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(Segment.SUFFIX))
                    .sorted()
                    .toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }
}
