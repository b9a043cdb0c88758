package io.lendstream.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.QueueId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreemptionTest {
    private static final QueueId TEAM = new QueueId("team-a");

    private static ClusterQueue queue() {
        return new ClusterQueue(TEAM, new DomainId("test"), Instant.EPOCH, Optional.empty(), 1, List.of());
    }

    @ParameterizedTest
    @CsvSource({
        "UNKNOWN, 0, 9, false",
        "NEVER, 0, 9, false",
        "LOWER_PRIORITY, 0, 1, true",
        "LOWER_PRIORITY, 1, 1, false",
        "LOWER_PRIORITY, 2, 1, false",
        "ANY, 9, 0, true"
    })
    void jobsGiveByPriority(Preemption rule, int priority, int ofWaiting, boolean gives) {
        assertThat(rule.takes(priority, ofWaiting)).isEqualTo(gives);
    }

    @Test
    void aQueueTakesBackFromAnyJobAndItsOwnJobsTakeNothing() {
        assertThat(queue().within()).isEqualTo(Preemption.NEVER);
        assertThat(queue().inCohort()).isEqualTo(Preemption.ANY);
    }

    @Test
    void theOrderOfJobsOfEqualPriorityIsThePolicys() {
        assertThatThrownBy(() -> queue().preempting(Preemption.ANY, Preemption.ANY))
                .hasMessageContaining("use LOWER_PRIORITY or NEVER");
    }

    @ParameterizedTest
    @CsvSource({"high, 10", "low, -5", "other, 3", ", 3"})
    void aClassOfTheQueueGivesThePriority(String name, int priority) {
        TrainingJob.Precedence precedence = new TrainingJob.Precedence(3, TEAM, Optional.ofNullable(name));

        assertThat(queue().withClasses(Map.of("high", 10, "low", -5)).priorityOf(precedence))
                .isEqualTo(priority);
    }
}
