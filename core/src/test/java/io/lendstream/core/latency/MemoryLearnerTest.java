package io.lendstream.core.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.seeds.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryLearnerTest {
    private static final long GIB = 1L << 30;

    /** 2 GiB at rest and an eighth of one for an input of the largest size. */
    private static Optional<Long> used(int batch, double size) {
        return Optional.of((long) (GIB * (2 + batch * size / 8)));
    }

    @Test
    void nothingFitsThatIsNotDeclared() {
        assertThat(MemoryLearner.EMPTY.largestBatch(80, 1)).isZero();

        MemoryLearner ran = MemoryLearner.EMPTY.ran(20, 16, .5, Optional.empty());

        assertThat(ran.largestBatch(20, .5)).isEqualTo(16);
        assertThat(ran.largestBatch(20, 1)).isEqualTo(8);
        assertThat(ran.largestBatch(30, 1)).isEqualTo(12);
        assertThat(ran.largestBatch(40, 1))
                .as("twice the memory holds twice as much")
                .isEqualTo(16);
        assertThat(ran.largestBatch(10, 1)).isZero();
    }

    @Test
    void measuredMemoryAllowsTwiceAsMuchAsRanWhereThereIsRoom() {
        MemoryLearner measured = MemoryLearner.EMPTY.ran(10, 8, 1, used(8, 1)).ran(10, 32, 1, used(32, 1));

        assertThat(measured.largestBatch(80, 1)).isEqualTo(256);
        assertThat(measured.largestBatch(15, 1)).isEqualTo(64);
        // (10 / 1.05 - 2) * 8 = 60.2
        assertThat(measured.largestBatch(10, 1)).isEqualTo(60);
        assertThat(measured.largestBatch(5, 1)).isEqualTo(22);
        assertThat(measured.largestBatch(5, .25)).isEqualTo(88);
        assertThat(measured.largestBatch(2, 1)).isZero();
    }

    @Test
    void oneMeasuredLoadDoesNotTellWhatOthersTake() {
        MemoryLearner measured = MemoryLearner.EMPTY.ran(10, 8, 1, used(8, 1)).ran(10, 8, 1, used(8, 1));

        assertThat(measured.largestBatch(10, 1)).isEqualTo(8);
        assertThat(measured.largestBatch(80, 1)).isEqualTo(64);
    }

    @Test
    void runningOutOfMemoryIsAHardLimitThereAndOnSmallerInstances() {
        MemoryLearner learner = MemoryLearner.EMPTY
                .ran(10, 8, 1, used(8, 1))
                .ran(10, 32, 1, used(32, 1))
                .ranOut(10, 30, 1);

        assertThat(learner.largestBatch(10, 1)).isEqualTo(29);
        assertThat(learner.largestBatch(10, .5)).isEqualTo(59);
        assertThat(learner.largestBatch(5, 1)).isEqualTo(22);
        assertThat(learner.largestBatch(20, 1)).isEqualTo(64);
    }

    @Seeds(300)
    void neverBeyondALimitAndMoreMemoryOrSmallerInputsNeverMeanSmallerBatches(Random random) {
        double[] memories = {5, 10, 20, 40};
        double[] sizes = {.125, .25, .5, 1};
        MemoryLearner learner = MemoryLearner.EMPTY;
        List<MemoryLearner.Point> outs = new ArrayList<>();
        for (int i = random.nextInt(20); i >= 0; i--) {
            double memory = memories[random.nextInt(4)];
            double size = sizes[random.nextInt(4)];
            int batch = 1 + random.nextInt(64);
            if (random.nextInt(4) == 0) {
                learner = learner.ranOut(memory, batch, size);
                outs.add(new MemoryLearner.Point(memory, batch * size));
            } else {
                learner = learner.ran(memory, batch, size, random.nextBoolean() ? used(batch, size) : Optional.empty());
            }
        }

        assertThat(learner.ran().size()).isLessThanOrEqualTo(memories.length);
        assertThat(learner.ranOut().size()).isLessThanOrEqualTo(memories.length);
        for (int i = 0; i < memories.length; i++) {
            for (int j = 0; j < sizes.length; j++) {
                int most = learner.largestBatch(memories[i], sizes[j]);
                double memory = memories[i];
                double work = most * sizes[j];
                assertThat(outs).noneMatch(out -> most > 0 && out.memoryGib() >= memory && out.work() <= work);
                assertThat(most).isGreaterThanOrEqualTo(i == 0 ? 0 : learner.largestBatch(memories[i - 1], sizes[j]));
                assertThat(most)
                        .isGreaterThanOrEqualTo(
                                j == sizes.length - 1 ? 0 : learner.largestBatch(memories[i], sizes[j + 1]));
            }
        }
    }

    @Test
    void nonsenseIsRefused() {
        assertThatThrownBy(() -> MemoryLearner.EMPTY.ran(10, 8, 2, Optional.empty()))
                .hasMessageContaining("2.0");
        assertThatThrownBy(() -> MemoryLearner.EMPTY.largestBatch(0, 1)).hasMessageContaining("0.0 GiB");
    }
}
