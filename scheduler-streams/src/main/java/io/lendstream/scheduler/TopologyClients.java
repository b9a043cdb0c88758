package io.lendstream.scheduler;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/** Client supplier of an instance whose group has only members of the same topology. */
final class TopologyClients extends DefaultKafkaClientSupplier {
    private final String assignor;

    /** @param assignor name of the assignor that all group members share */
    TopologyClients(String assignor) {
        this.assignor = assignor;
    }

    @Override
    public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
        return super.getConsumer(TopologyAssignor.in(config, assignor));
    }
}
