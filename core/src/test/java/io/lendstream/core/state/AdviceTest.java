package io.lendstream.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AdviceTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static Decision renewal(long sequence, int gpu) {
        Instant at = NOW.plusSeconds(sequence);
        return new Decision(
                new DecisionId(new DomainId("d"), 1, sequence),
                at,
                at,
                true,
                new Reason("lease", "", Map.of(), List.of()),
                new Action.Renew(List.of(new GpuId("g" + gpu)), at.plusSeconds(600)));
    }

    @Test
    void whatIsProposedAgainStandsAsItWasAndOnlyTheRestIsNew() {
        Advice advice = new Advice(List.of(renewal(1, 1), renewal(2, 2)));
        List<Decision> proposed = List.of(renewal(3, 2), renewal(4, 3));

        assertThat(advice.newAmong(proposed)).containsExactly(renewal(4, 3));
        assertThat(advice.proposedAgain(proposed).decisions()).containsExactly(renewal(2, 2));
    }

    /** Earlier versions wrote advice again at each plan; their state has it several times. */
    @Test
    void repeatsInTheStateOfAnEarlierVersionStandOrFallTogether() {
        Advice old = new Advice(List.of(renewal(1, 1), renewal(2, 2), renewal(3, 1)));

        assertThat(old.newAmong(List.of(renewal(4, 1)))).isEmpty();
        assertThat(old.proposedAgain(List.of(renewal(4, 1))).decisions()).containsExactly(renewal(1, 1), renewal(3, 1));
        assertThat(old.proposedAgain(List.of()).decisions()).isEmpty();
    }

    @Test
    void findsTheNewestThatAsksForTheSameAsAProposal() {
        Advice advice = new Advice(List.of(renewal(1, 1), renewal(2, 2), renewal(3, 1)));

        assertThat(advice.standing(renewal(4, 1))).contains(renewal(3, 1));
        assertThat(advice.standing(renewal(4, 3))).isEmpty();
    }

    @Test
    void theOldestIsForgottenAboveTheBound() {
        List<Decision> many =
                IntStream.rangeClosed(1, 101).mapToObj(i -> renewal(i, i)).toList();

        Advice advice = new Advice(List.of()).with(many);

        assertThat(advice.decisions()).hasSize(100);
        assertThat(advice.find(renewal(1, 1).id())).isEmpty();
        assertThat(advice.newAmong(many)).containsExactly(renewal(1, 1));
    }
}
