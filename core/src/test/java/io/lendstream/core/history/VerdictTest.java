package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static final Violation VIOLATION = new Violation("floor", "service chat has no replica");

    @Test
    void isContentWhereNothingWasViolatedAndOnlyThere() {
        assertThat(new Verdict(3, 2, 1, 0, 0, List.of()).isContent()).isTrue();
        assertThat(new Verdict(3, 2, 1, 0, 0, List.of(VIOLATION)).isContent()).isFalse();
    }

    @Test
    void aViolationReadsAsItsRuleAndWhatHappened() {
        assertThat(VIOLATION).hasToString("floor: service chat has no replica");
    }
}
