package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.schemas.topics.Intakes;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor;

/**
 * Streams' own assignor, under a name that says the topology's version. Members of a group have to have an assignor in common, so
 * that the broker lets no instance of one version into the group of another, to which the same task is something else.
 */
public final class TopologyAssignor extends StreamsPartitionAssignor {
    private static final String NAME = "lendstream.topology";

    private String name = "";

    /** For Kafka, which makes it by its class's name. */
    public TopologyAssignor() {}

    /** A consumer's properties, so that it uses this assignor. */
    static Map<String, Object> in(Map<String, Object> consumer, String name) {
        Map<String, Object> with = new HashMap<>(consumer);
        with.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, TopologyAssignor.class.getName());
        with.put(NAME, name);
        return with;
    }

    /**
     * The name under a topology's version and a site's intakes. Intakes are sources of the topology and say what is refused, so
     * that instances with different ones must not work side by side either.
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
