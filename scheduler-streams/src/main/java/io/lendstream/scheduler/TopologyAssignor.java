package io.lendstream.scheduler;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor;

/**
 * Streams' own assignor, under a name that says the topology's version. Members of a group have to have an assignor in common, so
 * that the broker lets no instance of one version into the group of another, to which the same task is something else.
 */
public final class TopologyAssignor extends StreamsPartitionAssignor {
    private static final String VERSION = "lendstream.topology.version";

    private String name = "";

    /** For Kafka, which makes it by its class's name. */
    public TopologyAssignor() {}

    /** A consumer's properties, so that it uses this assignor. */
    static Map<String, Object> in(Map<String, Object> consumer, int version) {
        Map<String, Object> with = new HashMap<>(consumer);
        with.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, TopologyAssignor.class.getName());
        with.put(VERSION, version);
        return with;
    }

    static String name(int version) {
        return "lendstream-topology-" + version;
    }

    @Override
    public void configure(Map<String, ?> consumer) {
        super.configure(consumer);
        name = name(Integer.parseInt(String.valueOf(consumer.get(VERSION))));
    }

    @Override
    public String name() {
        return name;
    }
}
