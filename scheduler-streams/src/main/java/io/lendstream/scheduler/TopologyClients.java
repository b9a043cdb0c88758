package io.lendstream.scheduler;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/** Clients of an instance that shares its group with none of another topology. */
final class TopologyClients extends DefaultKafkaClientSupplier {
    private final String assignor;

    /** @param assignor name that all of its group have in common */
    TopologyClients(String assignor) {
        this.assignor = assignor;
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
        return super.getConsumer(TopologyAssignor.in(config, assignor));
    }
}
