package io.lendstream.mutation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class MutationScoreTest {
    @Test
    void countsWhatWasNoticedOfWhatCouldBeRun() {
        MutationScore score = MutationScore.of(List.of(
                "A.java,p.A,Math,add,7,KILLED,p.ATest",
                "A.java,p.A,Math,add,8,TIMED_OUT,none",
                "A.java,p.A,Math,add,9,SURVIVED,none",
                "A.java,p.A,Math,add,10,NO_COVERAGE,none",
                "A.java,p.A,Math,add,11,NON_VIABLE,none"));

        assertThat(score).isEqualTo(new MutationScore(2, 1, 4));
        assertThat(score.share()).isEqualTo(0.5);
    }

    /** Computed apart, by Wilson's formula (1927). */
    @Test
    void theIntervalIsWilsons() {
        MutationScore score = new MutationScore(270, 0, 300);

        assertThat(score.low()).isCloseTo(0.8608, within(1e-4));
        assertThat(score.high()).isCloseTo(0.9290, within(1e-4));
    }
}
