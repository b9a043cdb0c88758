package io.lendstream.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DecisionSpoolTest {
    @TempDir
    private Path directory;

    @Test
    void decisionsComeBackInOrderAndNoFileIsLeft() {
        List<Decision> decisions =
                IntStream.range(0, 3000).mapToObj(DecisionSpoolTest::renewal).toList();
        Path played = directory.resolve("out/played");

        try (var spool = new DecisionSpool(played)) {
            assertThat(spool).isEmpty();
            decisions.subList(0, 10).forEach(spool::add);
            assertThat(spool).as("read between").isEqualTo(decisions.subList(0, 10));
            decisions.subList(10, decisions.size()).forEach(spool::add);

            assertThat(spool).isEqualTo(decisions);
            assertThat(spool.stream()).as("read again").containsExactlyElementsOf(decisions);
            assertThatThrownBy(() -> spool.get(3000)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(played).isNotEmptyDirectory();
        }
        assertThat(played).isEmptyDirectory();
    }

    @Test
    void aTruncatedFileIsAnError() throws IOException {
        try (var spool = new DecisionSpool(directory)) {
            spool.add(renewal(1));
            spool.get(0);
            try (Stream<Path> files = Files.list(directory)) {
                Files.write(files.findFirst().orElseThrow(), new byte[0]);
            }

            assertThatThrownBy(() -> spool.get(0))
                    .hasMessageContaining("decision 0")
                    .hasMessageContaining("spool");
        }
    }

    /** The decisions of a run of two hours must not fill a heap of 192 MB. */
    @Test
    void memoryHoldsOneDecisionAtATime() {
        try (var spool = new DecisionSpool(directory)) {
            long before = used();
            IntStream.range(0, 100_000).mapToObj(DecisionSpoolTest::renewal).forEach(spool::add);
            long read = spool.stream().filter(decision -> !decision.advisory()).count();

            assertThat(read).isEqualTo(100_000);
            assertThat(used() - before).as("bytes held for 100,000 decisions").isLessThan(20 << 20);
        }
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static Decision renewal(int number) {
        Instant deadline = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(number);
        return new Decision(
                new DecisionId(new DomainId("d"), 1, 1 + number),
                deadline.minusSeconds(60),
                deadline,
                false,
                new Reason("lease", "", Map.of(), List.of(1L)),
                new Action.Renew(List.of(new GpuId("g" + number)), deadline));
    }
}
