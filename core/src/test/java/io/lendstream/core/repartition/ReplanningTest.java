package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.repartition.Replanning.Proposal;
import io.lendstream.core.repartition.Replanning.Settings;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReplanningTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Proposal FEWER = new Proposal(6, true, 5, Duration.ofMinutes(30));
    private static final Replanning START = Replanning.start(Settings.DEFAULT);

    private static Instant minutes(double minutes) {
        return NOW.plusMillis(Math.round(minutes * 60_000));
    }

    @Test
    void changesAtOnceWhereThePlanInForceNoLongerSuffices() {
        var verdict = START.consider(NOW, new Proposal(6, false, 8, Duration.ZERO));

        assertThat(verdict.changes()).isTrue();
        assertThat(verdict.reason()).isEqualTo("6 GPUs no longer cover the demand, 8 would");
    }

    @Test
    void changesToFewerGpusInTheSecondPeriodThatAgrees() {
        var first = START.consider(NOW, FEWER);
        var early = first.next().consider(minutes(4.9), FEWER);
        var second = early.next().consider(minutes(5), FEWER);

        assertThat(first.changes()).isFalse();
        assertThat(first.reason()).isEqualTo("1 GPU fewer would suffice for 30 min, but only 1 of 2 periods agrees");
        assertThat(early.changes()).isFalse();
        assertThat(second.changes()).isTrue();
        assertThat(second.reason()).isEqualTo("1 GPU fewer suffices for 30 min, and 2 periods in a row agree");
        assertThat(second.next()).isEqualTo(START);
    }

    @Test
    void keepsWhatSavesNothingOrNotForLongEnough() {
        var same = START.consider(NOW, new Proposal(6, true, 6, Duration.ofHours(2)));
        var brief = START.consider(NOW, new Proposal(6, true, 4, Duration.ofMinutes(29)));

        assertThat(same.changes()).isFalse();
        assertThat(same.reason()).isEqualTo("6 GPUs cover the demand, and the new plan saves only 0 GPUs (limit: 1)");
        assertThat(brief.changes()).isFalse();
        assertThat(brief.reason()).isEqualTo("2 GPUs fewer would suffice for only 29 min (limit: 30 min)");
    }

    @Test
    void aPeriodThatDisagreesOrALongPauseRestartsTheCount() {
        var first = START.consider(NOW, FEWER).next();
        var disagreed = first.consider(minutes(3), new Proposal(6, true, 6, Duration.ofHours(1)));

        assertThat(disagreed.next().consider(minutes(6), FEWER).changes()).isFalse();
        assertThat(first.consider(minutes(10), FEWER).changes()).isTrue();
        assertThat(first.consider(minutes(11), FEWER).changes()).isFalse();
    }

    @Seeds(300)
    void neverSavesGpusTwiceWithinThePeriodsThatHaveToAgree(Random random) {
        Replanning replanning = START;
        double last = -100;
        for (double minute = 0; minute < 200; minute += random.nextDouble() * 4) {
            var verdict = replanning.consider(
                    minutes(minute), random.nextInt(8) == 0 ? new Proposal(6, true, 7, Duration.ZERO) : FEWER);
            replanning = verdict.next();
            if (verdict.changes()) {
                assertThat(minute - last).isGreaterThanOrEqualTo(5);
                last = minute;
            }
        }
    }

    @Test
    void refusesSettingsWithoutAPeriodThatAgrees() {
        assertThatThrownBy(() -> new Settings(Duration.ofMinutes(5), 0, 1, Duration.ZERO))
                .hasMessageContaining("periods and GPUs saved at least 1, but are PT5M, PT0S, 0 and 1");
    }
}
