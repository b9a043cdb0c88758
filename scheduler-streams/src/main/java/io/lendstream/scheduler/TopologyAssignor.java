package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.schemas.topics.Intakes;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor;

/**
 * Streams' own assignor, under a name with the topology's version. All members of a group need a common assignor, so
 * the broker keeps instances of different topology versions apart: a task differs between versions.
 */
public final class TopologyAssignor extends StreamsPartitionAssignor {
    private static final String NAME = "lendstream.topology";

    private String name = "";

    /** Used by Kafka, which creates it by its class name. */
    public TopologyAssignor() {}

    /** The consumer properties that select this assignor. */
    static Map<String, Object> in(Map<String, Object> consumer, String name) {
        Map<String, Object> with = new HashMap<>(consumer);
        with.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, TopologyAssignor.class.getName());
        with.put(NAME, name);
        return with;
    }

    /**
     * The name for a topology version and a site's intakes. Intakes are sources of the topology and decide which
     * records are refused, so instances with different intakes must not run together either.
     */
    static String name(int version, Intakes intakes) {
        String name = "lendstream-topology-" + version;
        return intakes.isEmpty()
                ? name
                : name + "-" + Utils.toPositive(Utils.murmur2(intakes.toString().getBytes(UTF_8)));
    }

    @Override
    public void configure(Map<String, ?> consumer) {
        super.configure(consumer);
        name = String.valueOf(consumer.get(NAME));
    }

    @Override
    public String name() {
        return name;
    }
}
