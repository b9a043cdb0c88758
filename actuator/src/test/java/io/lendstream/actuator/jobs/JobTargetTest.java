package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JobTargetTest {
    private final JobTarget target = new JobTarget(BATCHING, change(1), 10);

    private void replace(String slots, int change) {
        target.replace(slots(slots), BATCHING, change(change), Optional.empty(), 10L * change);
    }

    @Test
    void aChangeTakesAndGivesSlotsAndKeepsTheOthersWithTheirCause() {
        replace("0,1", 1);
        replace("1,2", 2);

        assertThat(target.slots()).isEqualTo(slots("1,2"));
        assertThat(target.leaving()).isEqualTo(slots("0"));
        assertThat(target.releasedBy(slots("0").get(0))).contains(change(2));
        assertThat(target.causeOf(slots("1").get(0))).isEqualTo(change(1));
        assertThat(target.causeOf(slots("2").get(0))).isEqualTo(change(2));
        assertThat(target.causeOf(slots("7").get(0))).as("the last change").isEqualTo(change(2));
        assertThat(target.askedNanos()).isEqualTo(20);
    }

    @Test
    void aWorkerIsWantedOnlyWhereAllItsSlotsAre() {
        replace("0,1", 1);
        replace("1", 2);

        assertThat(target.wants(slots("1"))).isTrue();
        assertThat(target.wants(slots("0,1"))).isFalse();
        assertThat(target.isExactly(slots("1"))).isTrue();
        assertThat(target.isExactly(slots("0,1"))).isFalse();
        assertThat(target.isExactly(List.of())).isFalse();
    }

    @Test
    void aSlotThatWasTakenAndGivenAgainIsFirstReleased() {
        replace("0", 1);
        replace("1", 2);
        replace("0", 3);
        assertThat(target.wants(slots("0"))).isFalse();

        assertThat(target.release(new GpuId("gpu0")))
                .contains(new JobTarget.Released(slots("0").get(0), change(2), 20));

        assertThat(target.wants(slots("0"))).isTrue();
        assertThat(target.release(new GpuId("gpu0"))).as("only once").isEmpty();
    }

    @Test
    void aSlotIsBoundOnceAndByTheChangeThatAddedIt() {
        replace("0", 1);
        replace("0,1", 2);

        assertThat(target.bind(slots("0,1,2"))).isEqualTo(Map.of(change(1), slots("0"), change(2), slots("1")));
        assertThat(target.bind(slots("0,1"))).isEmpty();
        assertThat(target.bound()).isEqualTo(slots("0,1"));
    }

    @Test
    void aChangeIsSupersededByAnotherUntilItIsComplete() {
        replace("0", 1);
        assertThat(target.isSupersededBy(change(1))).isFalse();
        assertThat(target.isSupersededBy(change(2))).isTrue();

        target.settle();

        assertThat(target.isSupersededBy(change(2))).isFalse();
        replace("0", 2);
        assertThat(target.isSettled()).isFalse();
    }
}
