package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What transitions between good packings take; prints figures. */
@Isolated("It measures time.")
class TransitionScaleTest {
    private static final int RUNS = 100;

    @Test
    void oneEmptyGpuSufficesForAlmostAllTransitionsOfFullPackings() {
        int without = 0;
        int with = 0;
        for (int run = 0; run < RUNS; run++) {
            without += Cases.planned(new Random(run), 6, 6, 0).plan(false).isComplete() ? 1 : 0;
            with += Cases.planned(new Random(run), 6, 6, 1).plan(false).isComplete() ? 1 : 0;
        }
        System.out.printf(
                Locale.ROOT,
                "complete without an empty GPU: %d of %d, with one: %d of %d%n",
                without,
                RUNS,
                with,
                RUNS);

        assertThat(with).isGreaterThanOrEqualTo(95);
    }

    @Test
    void twoHundredGpusTakeLittleTime() {
        Cases cases = Cases.planned(new Random(1), 50, 200, 4);
        cases.plan(false);

        long from = System.nanoTime();
        Transition transition = cases.plan(false);
        long millis = (System.nanoTime() - from) / 1_000_000;

        System.out.printf(
                Locale.ROOT,
                "%d GPUs, %d instances kept, %d created (%d in the target), %d stages, %s: planned in %d ms%n",
                cases.gpus().size(),
                cases.running().stream().filter(transition.target()::contains).count(),
                transition.creations(),
                transition.target().stream()
                        .filter(each -> !cases.running().contains(each))
                        .count(),
                transition.stages(),
                transition.duration(),
                millis);
        assertThat(transition.isComplete()).isTrue();
        assertThat(millis).isLessThan(20_000);
    }
}
