package io.lendstream.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DecisionSpoolTest {
    @TempDir
    private Path directory;

    @Test
    void whatWasAddedComesBackInItsOrderAndNothingIsLeftBehind() {
        List<Decision> decisions =
                IntStream.range(0, 100).mapToObj(DecisionSpoolTest::renewal).toList();
        Path played = directory.resolve("out/played");

        try (var spool = new DecisionSpool(played)) {
            assertThat(spool.all()).isEmpty();
            decisions.forEach(spool::add);

            assertThat(spool.all()).isEqualTo(decisions);
            assertThat(spool.all()).as("read again").isEqualTo(decisions);
            assertThat(played).isNotEmptyDirectory();
        }
        assertThat(played).isEmptyDirectory();
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
