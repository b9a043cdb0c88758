package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class StandbyCheckTest {
    @Test
    void oneInstanceIsActiveAndAnotherCanTakeOver() {
        assertThat(StandbyCheck.of("rack-1", List.of(member("/10.0.0.2"), active("/10.0.0.1")))
                        .line())
                .isEqualTo("ok   standby: actuator rack-1 is active at /10.0.0.1, on standby at /10.0.0.2");
    }

    @Test
    void aLackIsNamedWithTheRemedy() {
        assertThat(StandbyCheck.of("rack-1", List.of(active("/10.0.0.1"))).line())
                .startsWith("warn standby: actuator rack-1 is active at /10.0.0.1, and no instance is on standby");
        assertThat(StandbyCheck.of("rack-1", List.of(member("/10.0.0.2"))).line())
                .startsWith("FAIL standby: no instance of actuator rack-1 is active, 1 on standby");
        assertThat(StandbyCheck.of("rack-1", List.of()).line())
                .startsWith("FAIL standby: no instance of actuator rack-1 is active, 0 on standby");
    }

    private static MemberDescription active(String host) {
        return member(host, Set.of(new TopicPartition("actuators", 0)));
    }

    private static MemberDescription member(String host) {
        return member(host, Set.of());
    }

    private static MemberDescription member(String host, Set<TopicPartition> partitions) {
        return new MemberDescription(
                "member" + host,
                Optional.empty(),
                Optional.empty(),
                "client",
                host,
                new MemberAssignment(partitions),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }
}
