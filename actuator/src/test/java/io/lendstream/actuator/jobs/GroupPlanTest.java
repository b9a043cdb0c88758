package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.actuator.jobs.GroupPlan.Transfer;
import org.junit.jupiter.api.Test;

class GroupPlanTest {
    @Test
    void newcomersGetTheStateFromThoseThatHaveItInTurn() {
        assertThat(GroupPlan.transfers(2, 5))
                .containsExactly(new Transfer(0, 2), new Transfer(1, 3), new Transfer(0, 4));
    }

    @Test
    void atAStartAllGetTheStateOfTheFirst() {
        assertThat(GroupPlan.transfers(0, 3)).containsExactly(new Transfer(0, 1), new Transfer(0, 2));
    }

    @Test
    void whoTrainedBeforeGetsNothing() {
        assertThat(GroupPlan.transfers(3, 3)).isEmpty();
        assertThat(GroupPlan.transfers(0, 0)).isEmpty();
    }
}
