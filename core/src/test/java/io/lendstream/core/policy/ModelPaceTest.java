package io.lendstream.core.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.goodput.SpeedOnKind;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ModelPaceTest {
    /** Half a second an iteration of the initial batch, which is fixed. */
    private final GoodputModel model = new GoodputModel(
            new ThroughputParameters(.5, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1),
            new GradientNoise(1, 1),
            new BatchRange(100, 100, 1, 100, Optional.of(100)));

    @Test
    void aJobThatToldItsTotalHasTheRestBeforeIt() {
        Pace pace = new ModelPace(new SpeedOnKind(new KnownGoodput(model), 1), 4, 30, Optional.of(100.0));

        assertThat(pace.remainingIterations()).isEqualTo(70);
        assertThat(pace.remainingSeconds(1)).isCloseTo(35, within(.01));
    }

    @Test
    void aJobThatDidNotHasAsMuchBeforeItAsBehindIt() {
        assertThat(new ModelPace(new SpeedOnKind(new KnownGoodput(model), 1), 4, 30, Optional.empty())
                        .remainingIterations())
                .isEqualTo(30);
    }
}
