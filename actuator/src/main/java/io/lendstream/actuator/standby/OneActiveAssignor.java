package io.lendstream.actuator.standby;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;

/**
 * Gives partition 0 of the only topic to one member of a group, and nothing to the others. The member that has it keeps
 * it while it is in the group, so a member that joins changes nothing. Kafka's sticky assignors would move it, to
 * balance the partitions of a larger topic.
 */
public final class OneActiveAssignor implements ConsumerPartitionAssignor {
    /** Used by Kafka, which creates it by its class name. */
    public OneActiveAssignor() {}

    @Override
    public String name() {
        return "lendstream-one-active";
    }

    /** Members keep their partition during a rebalance. */
    @Override
    public List<RebalanceProtocol> supportedProtocols() {
        return List.of(RebalanceProtocol.COOPERATIVE);
    }

    @Override
    public GroupAssignment assign(Cluster metadata, GroupSubscription groupSubscription) {
        Map<String, Subscription> members = groupSubscription.groupSubscription();
        Map<String, Assignment> all = new HashMap<>();
        members.keySet().forEach(member -> all.put(member, new Assignment(List.of())));
        present(metadata, members).ifPresent(partition -> {
            // The first by name: any would do, but all leaders must agree.
            String active = owner(members, partition)
                    .orElseGet(() -> members.keySet().stream()
                            .min(Comparator.naturalOrder())
                            .orElseThrow());
            all.put(active, new Assignment(new ArrayList<>(List.of(partition))));
        });
        return new GroupAssignment(all);
    }

    private static Optional<TopicPartition> present(Cluster metadata, Map<String, Subscription> members) {
        return members.values().stream()
                .flatMap(member -> member.topics().stream())
                .distinct()
                .filter(topic -> metadata.partitionCountForTopic(topic) != null)
                .findFirst()
                .map(topic -> new TopicPartition(topic, 0));
    }

    /** The member that has it; the one of the newest generation if another one has missed that it has lost it. */
    private static Optional<String> owner(Map<String, Subscription> members, TopicPartition partition) {
        return members.entrySet().stream()
                .filter(member -> member.getValue().ownedPartitions().contains(partition))
                .max(Comparator.comparingInt((Map.Entry<String, Subscription> member) ->
                                member.getValue().generationId().orElse(-1))
                        .thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getKey);
    }
}
