package io.lendstream.actuator.standby;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class OneActiveAssignorTest {
    private static final TopicPartition SEAT = new TopicPartition("actuators", 0);
    private static final List<String> TOPICS = List.of("actuators");

    private final Map<String, Subscription> members = new LinkedHashMap<>();

    @Test
    void oneMemberGetsPartitionZeroAndTheOthersNothing() {
        joins("b", 0, List.of());
        joins("a", 0, List.of());

        assertThat(assigned(6)).isEqualTo(Map.of("a", List.of(SEAT), "b", List.of()));
    }

    @Test
    void aMemberThatJoinsDoesNotMoveIt() {
        joins("z", 4, List.of(SEAT));
        joins("a", 0, List.of());

        assertThat(assigned(6)).isEqualTo(Map.of("a", List.of(), "z", List.of(SEAT)));
    }

    @Test
    void ofTwoThatClaimItTheNewerGenerationHasIt() {
        joins("a", 3, List.of(SEAT));
        joins("b", 4, List.of(SEAT));

        assertThat(assigned(1)).isEqualTo(Map.of("a", List.of(), "b", List.of(SEAT)));
    }

    @Test
    void withoutTheTopicNoMemberIsActive() {
        joins("a", 0, List.of());

        assertThat(assigned(0)).isEqualTo(Map.of("a", List.of()));
    }

    private void joins(String member, int generation, List<TopicPartition> owned) {
        members.put(member, new Subscription(TOPICS, null, owned, generation, Optional.empty()));
    }

    private Map<String, List<TopicPartition>> assigned(int partitions) {
        List<PartitionInfo> there = java.util.stream.IntStream.range(0, partitions)
                .mapToObj(index -> new PartitionInfo("actuators", index, Node.noNode(), new Node[0], new Node[0]))
                .toList();
        Cluster cluster = new Cluster("cluster", List.of(), there, Set.of(), Set.of());
        var found = new TreeMap<String, List<TopicPartition>>();
        new OneActiveAssignor()
                .assign(cluster, new GroupSubscription(members))
                .groupAssignment()
                .forEach((member, assignment) -> found.put(member, assignment.partitions()));
        return found;
    }
}
