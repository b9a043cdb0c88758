package io.lendstream.core.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordingTest {
    @ParameterizedTest
    @CsvSource({
        "0, 1, false, starts on 1 GPU",
        "0, 2, false, starts on 2 GPUs",
        "0, 2, true, resumes on 2 GPUs",
        "3, 4, true, grows from 3 to 4 GPUs",
        "4, 1, true, shrinks from 4 to 1 GPU",
        "1, 0, true, gives up its GPU and waits",
        "3, 0, true, gives up its 3 GPUs and waits",
        "1, 1, true, moves to another GPU",
        "3, 3, true, changes some of its 3 GPUs"
    })
    void aChangeOfSizeIsNamed(int before, int after, boolean ran, String words) {
        assertThat(Wording.resized(before, after, ran)).isEqualTo(words);
    }

    @ParameterizedTest
    @CsvSource({
        "9, 7, true, moves to other GPUs and shrinks from 9 to 7 GPUs",
        "1, 1, true, moves to another GPU",
        "1, 3, true, grows from 1 to 3 GPUs",
        "0, 2, false, starts on 2 GPUs"
    })
    void aJobThatGainsGpusMovesEvenIfItShrinks(int before, int after, boolean ran, String words) {
        assertThat(Wording.gains(before, after, ran)).isEqualTo(words);
    }

    @Test
    void sharesArePercentagesAndTimesAreInUtc() {
        assertThat(Wording.percent(0.734)).isEqualTo("73 %");
        assertThat(Wording.timeOfDay(Instant.parse("2026-01-01T12:05:00Z"))).isEqualTo("12:05 UTC");
        assertThat(Wording.timeOfDay(Instant.parse("2026-01-01T12:05:30.5Z"))).isEqualTo("12:05:30 UTC");
        assertThat(Wording.time(Instant.parse("2026-01-01T03:21:02.9Z"))).isEqualTo("2026-01-01 03:21:02 UTC");
    }

    @ParameterizedTest
    @CsvSource({
        "1, 4, 3, loses 1 of its 4 GPUs and goes on with 3 GPUs",
        "2, 3, 1, loses 2 of its 3 GPUs and goes on with 1 GPU",
        "1, 1, 2, loses its GPU and goes on with 2 GPUs",
        "2, 2, 0, loses its 2 GPUs and waits"
    })
    void lostGpusAreNamed(int lost, int before, int after, String words) {
        assertThat(Wording.loses(lost, before, after)).isEqualTo(words);
    }

    @Test
    void aJobLeavesAMigInstance() {
        assertThat(Wording.leavesInstance(1)).isEqualTo("moves from its MIG instance to 1 GPU");
        assertThat(Wording.leavesInstance(2)).isEqualTo("moves from its MIG instance to 2 GPUs");
    }

    @Test
    void itemsAreJoined() {
        assertThat(Wording.list(List.of())).isEmpty();
        assertThat(Wording.list(List.of("a"))).isEqualTo("a");
        assertThat(Wording.list(List.of("a", "b"))).isEqualTo("a and b");
        assertThat(Wording.list(List.of("a", "b", "c"))).isEqualTo("a, b and c");
    }

    @Test
    void instancesAreCountedByProfileInTheirOrder() {
        assertThat(Wording.layout(List.of("3g.20gb", "2g.10gb", "2g.10gb"))).isEqualTo("1 × 3g.20gb and 2 × 2g.10gb");
        assertThat(Wording.layout(List.of("7g.80gb"))).isEqualTo("1 × 7g.80gb");
    }

    @Test
    void stoppedReplicasAreCounted() {
        assertThat(Wording.idles(1)).isEqualTo("idles 1 replica: its GPU is free for ");
        assertThat(Wording.idles(2)).isEqualTo("idles 2 replicas: their GPUs are free for ");
    }
}
