package io.lendstream.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.benchmarks.ResizeTimes.AskedChange;
import io.lendstream.benchmarks.WorkerNotes.Step;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResizeTimesTest {
    private static final DecisionId CHANGE = new DecisionId(new DomainId("bench"), 1, 2);
    private static final Map<DecisionId, ChangeTimings> NONE_RELEASED = Map.of();

    /** Steps of four processes every 100 ms, and from 1.5 s on of two processes every 200 ms. */
    private static List<Step> shrunk() {
        var steps = new ArrayList<Step>();
        for (int i = 0; i < 10; i++) {
            steps.add(step(i, 100L * (i + 1), 4));
        }
        for (int i = 0; i < 10; i++) {
            steps.add(step(10 + i, 1500 + 200 * i, 2));
        }
        return steps;
    }

    private static Step step(int number, long endMillis, int world) {
        return new Step(number, endMillis * 1_000_000, world, world, true);
    }

    @Test
    void aPauseIsTheTimeBetweenStepsLessTheShorterStep() {
        var shrink = new AskedChange("shrink", 950_000_000, CHANGE);

        Map<String, List<Double>> times = ResizeTimes.of(shrunk(), List.of(shrink), NONE_RELEASED);

        assertThat(times).containsOnlyKeys("shrink_pause", "shrink_decision_to_full", "step_of_four");
        assertThat(times.get("shrink_pause").get(0)).isCloseTo(0.4, within(1e-6));
        assertThat(times.get("shrink_decision_to_full").get(0)).isCloseTo(0.55, within(1e-6));
        assertThat(times.get("step_of_four").get(0)).isCloseTo(0.1, within(1e-6));
    }

    @Test
    void aChangeWithoutAStepAtTheNewSizeHasNoTimes() {
        var grow = new AskedChange("grow", 1_600_000_000, CHANGE);

        assertThat(ResizeTimes.of(shrunk(), List.of(grow), NONE_RELEASED)).isEmpty();
    }
}
