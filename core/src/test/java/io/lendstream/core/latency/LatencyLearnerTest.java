package io.lendstream.core.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated("It measures time.")
class LatencyLearnerTest {
    private static final Slice ONE = new Slice(1, 1);
    private static final Slice THREE = new Slice(3, 4);
    private static final Slice SEVEN = new Slice(7, 8);

    /** A floor of 6 ms; 4 ms and 2 ms an input on the smallest slice. */
    private static final Hinge TRUTH = new Hinge(Math.log(6), Math.log(4), Math.log(2), .5, .4, Math.log(.8));

    private static double truth(Slice slice, int batch, double size) {
        return Math.exp(TRUTH.logMillis(slice, batch, size));
    }

    private static ServedBatches probe(Slice slice, int batch, double factor) {
        return ServedBatches.of(slice, batch, 1, 30, factor * truth(slice, batch, 1));
    }

    private static LatencyLearner probed(LatencyLearner learner, double factor) {
        return learner.probed(probe(SEVEN, 1, factor))
                .probed(probe(ONE, 64, factor))
                .probed(probe(SEVEN, 64, factor))
                .probed(probe(ONE, 1, factor))
                .probed(probe(THREE, 8, factor));
    }

    private static LatencyLearner probed() {
        return probed(LatencyLearner.of(LatencyPrior.WIDE), 1);
    }

    /** Single batches of 1 to 20, so much slower than the truth. */
    private static List<ServedBatches> traffic(Slice slice, double factor, double noise, int batches, Random random) {
        List<ServedBatches> traffic = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            int batch = 1 + random.nextInt(20);
            traffic.add(ServedBatches.of(
                    slice, batch, 1, 1, factor * truth(slice, batch, 1) * Math.exp(noise * random.nextGaussian())));
        }
        return traffic;
    }

    private static LatencyLearner serving(LatencyLearner learner, List<ServedBatches> traffic) {
        LatencyLearner next = learner;
        for (int i = 0; i < traffic.size(); i += 50) {
            next = next.observed(traffic.subList(i, Math.min(i + 50, traffic.size())));
        }
        return next;
    }

    private static double error(LatencyLearner learner, Slice slice, int batch, double factor) {
        return learner.model().orElseThrow().millis(slice, batch, 1) / truth(slice, batch, 1) / factor - 1;
    }

    @Test
    void withoutMeasurementsThereIsNoModelAndProbesAreNeeded() {
        LatencyLearner nothing = LatencyLearner.of(LatencyPrior.WIDE);

        assertThat(nothing.model()).isEmpty();
        assertThat(nothing.needsProbes()).isTrue();
        assertThat(nothing.margin(ONE, 1, 1)).isEqualTo(.3);
        assertThat(nothing.observed(List.of()).state()).isEqualTo(nothing.state());
    }

    @Test
    void probesGiveAModel() {
        LatencyLearner probed = probed();

        assertThat(probed.needsProbes()).isFalse();
        for (int batch = 1; batch <= 64; batch *= 2) {
            assertThat(error(probed, THREE, batch, 1)).as("batch %d", batch).isCloseTo(0, within(.06));
        }
    }

    /** Batch 12 takes a third longer than any hinge through the others says. */
    @Test
    void fromFiftyBatchesOnABinCountsMoreThanTheHinge() {
        double odd = 1.33 * truth(THREE, 12, 1);
        LatencyLearner few = probed().observed(ServedBatches.of(THREE, 12, 1, 49, odd));
        LatencyLearner enough = few.observed(ServedBatches.of(THREE, 12, 1, 1, odd));

        assertThat(few.model().orElseThrow().millis(THREE, 12, 1)).isLessThan(.95 * odd);
        assertThat(enough.model().orElseThrow().millis(THREE, 12, 1)).isCloseTo(odd, within(1e-9));
    }

    @Test
    void theUpperQuantileOfAMeasuredBinIsThatOfItsBatches() {
        Random random = new Random(1);
        LatencyLearner learner = probed();
        double[] millis = random.doubles(20_000)
                .map(any -> truth(THREE, 4, 1) * Math.exp(.06 * random.nextGaussian()))
                .toArray();
        for (int i = 0; i < millis.length; i += 40) {
            double mean = 0;
            for (int j = i; j < i + 40; j++) {
                mean += millis[j] / 40;
            }
            double squares = 0;
            for (int j = i; j < i + 40; j++) {
                squares += (millis[j] - mean) * (millis[j] - mean);
            }
            learner = learner.observed(new ServedBatches(THREE, 4, 1, 40, mean, Optional.of(squares)));
        }
        Arrays.sort(millis);

        double p99 = learner.model().orElseThrow().millisAtMost(THREE, 4, 1, 2.33);

        assertThat(p99 / millis[19_800]).isBetween(.98, 1.02);
    }

    @Test
    void withoutSquaredDeviationsTheVariationOfReportsTellsThatOfBatches() {
        Random random = new Random(2);
        LatencyLearner learner = probed();
        for (int i = 0; i < 2000; i++) {
            double mean = random.doubles(10)
                            .map(any -> Math.exp(.06 * random.nextGaussian()))
                            .sum()
                    / 10;
            learner = learner.observed(ServedBatches.of(THREE, 4, 1, 10, mean * truth(THREE, 4, 1)));
        }

        assertThat(learner.model().orElseThrow().spread(THREE, 4, 1)).isBetween(.05, .07);
        assertThat(learner.state().drifted()).isFalse();
    }

    @Seeds(60)
    void latencyNeverFallsAsBatchesGrowWhateverWasMeasured(RandomValues values) {
        double noise = values.doubleBetween(0, .3);
        Random random = values.random();
        List<List<LatencySample>> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            List<LatencySample> other = new ArrayList<>();
            for (int batch = 1; batch <= 128; batch *= 2) {
                double millis = truth(THREE, batch, 1) * Math.exp(.1 * random.nextGaussian());
                other.add(new LatencySample(THREE, batch, 1, millis));
            }
            others.add(other);
        }
        LatencyLearner learner = probed(LatencyLearner.of(LatencyPrior.of(others)), 1);
        List<ServedBatches> served = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            int batch = 1 + random.nextInt(128);
            double millis = truth(THREE, batch, 1) * Math.exp(noise * random.nextGaussian());
            served.add(ServedBatches.of(THREE, batch, 1, 60, millis));
        }
        LatencyModel model = learner.observed(served).model().orElseThrow();

        for (int batch = 2; batch <= 300; batch++) {
            assertThat(model.millis(THREE, batch, 1))
                    .as("batch %d", batch)
                    .isGreaterThanOrEqualTo(model.millis(THREE, batch - 1, 1));
        }
    }

    @Seeds(25)
    void theOrderOfReportsOfASteadyServiceMattersLittle(Random random) {
        List<ServedBatches> traffic = traffic(THREE, 1.08, .02, 2000, random);
        LatencyLearner one = serving(probed(), traffic);
        Collections.shuffle(traffic, random);
        LatencyLearner other = serving(probed(), traffic);

        for (int batch = 1; batch <= 20; batch++) {
            assertThat(one.model().orElseThrow().millis(THREE, batch, 1)
                            / other.model().orElseThrow().millis(THREE, batch, 1))
                    .isBetween(.98, 1.02);
        }
    }

    @Seeds(15)
    void goesOnFromWhatWasKeptAsIfNothingHadHappened(RandomValues values) {
        int cut = values.intBetween(0, 600);
        long seed = values.random().nextLong();
        List<ServedBatches> traffic = traffic(THREE, 1, .02, 300, new Random(seed));
        traffic.addAll(traffic(THREE, 1.3, .02, 300, new Random(seed)));
        LatencyLearner whole = probed();
        LatencyLearner kept = probed();
        for (int i = 0; i < traffic.size(); i++) {
            if (i == cut) {
                kept = LatencyLearner.of(LatencyPrior.WIDE, kept.state());
            }
            whole = whole.observed(traffic.get(i));
            kept = kept.observed(traffic.get(i));
        }

        assertThat(kept.state()).isEqualTo(whole.state());
        assertThat(kept.model().orElseThrow().millis(ONE, 7, 1))
                .isEqualTo(whole.model().orElseThrow().millis(ONE, 7, 1));
    }

    @Test
    void theMarginOfANewModelShrinksAsServedBatchesConfirmIt() {
        LatencyLearner learner = probed();
        Random random = new Random(3);

        assertThat(learner.margin(THREE, 8, 1)).isBetween(.1, .15);
        LatencyLearner some = serving(learner, traffic(THREE, 1, .01, 250, random));
        LatencyLearner many = serving(some, traffic(THREE, 1, .01, 2000, random));

        assertThat(some.margin(THREE, 8, 1)).isBetween(.07, .085);
        assertThat(many.margin(THREE, 8, 1)).isBetween(.05, .06);
        assertThat(many.margin(SEVEN, 8, 1))
                .as("of a slice that has not served")
                .isGreaterThanOrEqualTo(.1);
    }

    @ParameterizedTest
    @ValueSource(doubles = {.01, .02, .03})
    void noiseOfUpToThreePerCentNeverAlarms(double noise) {
        for (int seed = 0; seed < 5; seed++) {
            LatencyLearner learner = serving(probed(), traffic(THREE, 1.05, noise, 100_000, new Random(seed)));

            assertThat(learner.state().drifted()).as("seed %d", seed).isFalse();
        }
    }

    /** The most batches that it takes to notice in twenty tries. */
    private static int noticedAfter(double factor, double noise, int atMost) {
        int most = 0;
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            LatencyLearner learner = serving(probed(), traffic(THREE, 1, noise, 4000, random));
            int taken = 0;
            for (ServedBatches slow : traffic(THREE, factor, noise, atMost, random)) {
                if (!learner.state().drifted()) {
                    taken++;
                    learner = learner.observed(slow);
                }
            }
            assertThat(learner.state().drifted()).as("seed %d", seed).isTrue();
            most = Math.max(most, taken);
        }
        return most;
    }

    @ParameterizedTest
    @ValueSource(doubles = {.01, .02, .03})
    void aSlowdownOfTenPerCentIsNoticedWithinTwentyBatches(double noise) {
        int most = noticedAfter(1.1, noise, 20);

        System.out.printf(
                "slowdown of 10 %% in noise of %.0f %%: noticed after at most %d batches%n", 100 * noise, most);
        assertThat(most).isLessThanOrEqualTo(20);
    }

    @Test
    void aSlowdownOfFivePerCentIsNoticedWithinEightyBatches() {
        assertThat(noticedAfter(1.05, .02, 80)).isBetween(20, 80);
    }

    /** Times without any rhyme or reason: no hinge fits, but nothing breaks. */
    @Seeds(25)
    void forAnyReportsThereIsAModelAndItsMarginIsWithinBounds(Random random) {
        List<Slice> slices = List.of(ONE, THREE, SEVEN);
        LatencyLearner learner = LatencyLearner.of(LatencyPrior.WIDE);
        for (int reading = 0; reading < 10; reading++) {
            List<ServedBatches> served = new ArrayList<>();
            for (int i = random.nextInt(8); i >= 0; i--) {
                served.add(ServedBatches.of(
                        slices.get(random.nextInt(3)),
                        1 + random.nextInt(300),
                        1 - random.nextDouble(),
                        1 + random.nextInt(500),
                        Math.exp(4 * random.nextGaussian())));
            }
            learner = random.nextInt(4) == 0 ? learner.probed(served.get(0)) : learner.observed(served);
            LatencyModel model = learner.model().orElseThrow();
            for (Slice slice : slices) {
                assertThat(model.millis(slice, 40, .5)).isPositive().isFinite();
                assertThat(model.millisAtMost(slice, 40, .5, 2.33)).isPositive().isFinite();
                // Up to 0.15 for want of probes, and beyond where a model is unsure, as it is of times at random; 0.3
                // is the most.
                assertThat(learner.margin(slice, 40, .5)).isBetween(.05, .3);
            }
        }
    }

    @Test
    void countersThatAreReadSeldomTellDriftsAsWell() {
        Random random = new Random(8);
        LatencyLearner learner = probed();
        for (int i = 0; i < 2000; i++) {
            int batch = 1 + i % 20;
            double mean = truth(THREE, batch, 1) * Math.exp(.03 / Math.sqrt(300) * random.nextGaussian());
            learner = learner.observed(ServedBatches.of(THREE, batch, 1, 300, mean));
        }
        LatencyLearner slower = learner.observed(ServedBatches.of(THREE, 8, 1, 300, 1.1 * truth(THREE, 8, 1)));

        assertThat(learner.state().drifted()).isFalse();
        assertThat(slower.state().drifted()).isTrue();
        for (int batch = 1; batch <= 20; batch++) {
            assertThat(error(slower, THREE, batch, 1.1)).as("batch %d", batch).isCloseTo(0, within(.005));
        }
    }

    @Test
    void afterASlowdownMarginsAreWideAndItIsLearnedAgain() {
        Random random = new Random(4);
        LatencyLearner steady = serving(probed(), traffic(THREE, 1, .02, 4000, random));
        LatencyLearner drifted = steady.observed(traffic(THREE, 1.2, .02, 10, random));
        LatencyLearner relearned = serving(drifted, traffic(THREE, 1.2, .02, 4000, random));
        LatencyLearner probedAgain = probed(relearned, 1.2);

        assertThat(steady.needsProbes()).isFalse();
        assertThat(drifted.needsProbes()).isTrue();
        assertThat(drifted.margin(THREE, 8, 1)).isEqualTo(.15);
        assertThat(drifted.margin(ONE, 8, 1)).isEqualTo(.15);
        assertThat(error(drifted, THREE, 8, 1.2)).isCloseTo(0, within(.06));
        assertThat(error(drifted, ONE, 64, 1.2)).as("no watch on it").isCloseTo(0, within(.06));
        assertThat(error(relearned, THREE, 8, 1.2)).isCloseTo(0, within(.01));
        assertThat(relearned.margin(THREE, 8, 1)).isBetween(.05, .06);
        assertThat(relearned.margin(SEVEN, 8, 1)).isEqualTo(.15);
        assertThat(probedAgain.needsProbes()).isFalse();
        assertThat(probedAgain.margin(SEVEN, 64, 1)).isLessThan(.15);
    }

    @Test
    void aSpeedupIsLearnedWhereItWasSeenAndNotCountedOnElsewhere() {
        Random random = new Random(5);
        LatencyLearner steady = serving(probed(), traffic(THREE, 1, .02, 4000, random));
        LatencyLearner drifted = steady.observed(traffic(THREE, .8, .02, 12, random));

        assertThat(drifted.state().drifted()).isTrue();
        assertThat(error(drifted, THREE, 8, .8)).isCloseTo(0, within(.05));
        assertThat(drifted.state().bins())
                .filteredOn(bin -> bin.bin().slice().equals(ONE))
                .isEqualTo(steady.state().bins().stream()
                        .filter(bin -> bin.bin().slice().equals(ONE))
                        .map(MeasuredBin::asFitted)
                        .toList());
    }

    @Test
    void aReloadedModelThatIsSlowerOnAllSlicesMovesUnwatchedBinsOnce() {
        Random random = new Random(6);
        LatencyLearner learner = serving(probed(), traffic(THREE, 1, .02, 4000, random));
        learner = serving(learner, traffic(ONE, 1, .02, 4000, random));
        learner = serving(learner, traffic(THREE, 1.2, .02, 20, random));
        learner = serving(learner, traffic(ONE, 1.2, .02, 20, random));

        assertThat(error(learner, SEVEN, 64, 1.2)).isCloseTo(0, within(.08));
        assertThat(error(learner, ONE, 8, 1.2)).isCloseTo(0, within(.08));
    }

    @Test
    void stateIsBounded() {
        List<ServedBatches> served = new ArrayList<>();
        for (int batch = 1; batch <= 3000; batch++) {
            double size = 1.0 / (1 + batch % 13);
            served.add(ServedBatches.of(THREE, batch, size, 1, truth(THREE, batch, size)));
        }

        assertThat(probed().observed(served).state().bins())
                .hasSize(LatencyLearner.MOST_BINS)
                .noneMatch(bin -> bin.bin().slice().equals(SEVEN));
    }

    @Test
    void learningIsCheap() {
        List<ServedBatches> traffic = traffic(THREE, 1.05, .02, 20_000, new Random(7));
        LatencyLearner learner = serving(probed(), traffic);
        long start = System.nanoTime();
        for (ServedBatches served : traffic) {
            learner = learner.observed(served);
        }
        double observe = (System.nanoTime() - start) / 1e3 / traffic.size();
        List<LatencyFit.Point> points = learner.state().bins().stream()
                .map(bin -> new LatencyFit.Point(
                        bin.bin().slice(), bin.batch(), bin.size(), Math.exp(bin.logMillis()), bin.certainty()))
                .toList();
        start = System.nanoTime();
        for (int i = 0; i < 50; i++) {
            assertThat(LatencyFit.ofPoints(points, LatencyPrior.WIDE).fitted()).isNotNull();
        }
        double refit = (System.nanoTime() - start) / 1e6 / 50;
        System.out.printf("%.1f us to observe, %.2f ms to fit %d bins again%n", observe, refit, points.size());

        assertThat(learner.state().bins()).hasSizeLessThan(30);
    }
}
