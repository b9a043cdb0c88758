package io.lendstream.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.fixtures.Scenario;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JobShapeTest {
    @Test
    void anyShapeAllowsEachNumber() {
        assertThat(JobShape.ANY.isAny()).isTrue();
        assertThat(JobShape.ANY.allows(7)).isTrue();
        assertThat(JobShape.ANY.atLeast(7)).isEqualTo(7);
        assertThat(JobShape.ANY.atMost(7)).isEqualTo(7);
    }

    @Test
    void multiplesAreTheNearestOnes() {
        JobShape fours = JobShape.multiples(4);

        assertThat(fours.allows(8)).isTrue();
        assertThat(fours.allows(6)).isFalse();
        assertThat(fours.allows(0)).isTrue();
        assertThat(fours.atLeast(5)).isEqualTo(8);
        assertThat(fours.atMost(5)).isEqualTo(4);
        assertThat(fours.atMost(3)).isZero();
    }

    @Test
    void aListIsSortedAndMeetsMultiples() {
        JobShape shape = new JobShape(List.of(8, 2, 3, 2), 2, false, Optional.empty());

        assertThat(shape.sizes()).containsExactly(2, 3, 8);
        assertThat(shape.atLeast(3)).isEqualTo(8);
        assertThat(shape.atMost(7)).isEqualTo(2);
        assertThat(shape.atLeast(9)).isZero();
        assertThat(shape.allows(3)).isFalse();
    }

    @Test
    void aLevelOfALaterVersionIsNoWish() {
        JobShape later = JobShape.ANY.within(TopologyLevel.UNKNOWN, true);

        assertThat(later.isAny()).isTrue();
        assertThat(later.required()).isEmpty();
        assertThat(JobShape.ANY.within(TopologyLevel.RACK, false).isAny()).isFalse();
        assertThat(JobShape.ANY.within(TopologyLevel.RACK, false).required()).isEmpty();
    }

    @Test
    void sizesBelowOneAreRefused() {
        assertThatThrownBy(() -> JobShape.of(List.of(0))).hasMessage("sizes must be at least 1, but was 0");
        assertThatThrownBy(() -> JobShape.multiples(0)).hasMessage("multipleOf must be at least 1, but was 0");
    }

    @Test
    void aJobHasASizeIfItsRangeHasOne() {
        TrainingJob elastic = Scenario.of("deepboot").jobRecord("a", 4, true);
        TrainingJob rigid = Scenario.of("deepboot").jobRecord("a", 4, false);

        assertThat(elastic.shaped(JobShape.multiples(3)).hasSize()).isTrue();
        assertThat(elastic.shaped(JobShape.multiples(5)).hasSize()).isFalse();
        assertThat(rigid.shaped(JobShape.multiples(2)).hasSize()).isTrue();
        assertThat(rigid.shaped(JobShape.of(List.of(2, 3))).hasSize()).isFalse();
    }

    @Test
    void wordsNameAllRules() {
        JobShape shape = new JobShape(List.of(4, 8), 4, true, Optional.empty()).within(TopologyLevel.RACK, true);

        assertThat(shape.inWords()).isEqualTo("sizes [4, 8], multiples of 4 GPUs, whole nodes, one rack (required)");
        assertThat(JobShape.ANY.inWords()).isEqualTo("any size");
    }

    @Test
    void aGangMayHaveTheSizesOfItsShape() {
        JobShape gang = JobShape.multiples(2).together();

        assertThat(gang.gang()).isTrue();
        assertThat(gang.allows(3)).isFalse();
        assertThat(gang.within(TopologyLevel.RACK, true).gang()).isTrue();
        assertThat(gang.inWords()).isEqualTo("multiples of 2 GPUs, a gang");
        assertThat(JobShape.ANY.together().isAny()).isTrue();
        assertThat(JobShape.ANY.gang()).isFalse();
    }
}
