package io.lendstream.scheduler;

import io.lendstream.core.decision.Reason;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StreamPartitioner;

/**
 * Maps a domain to its partition, as Kafka's default partitioner maps the domain's name as a key.
 *
 * @param partitions number of partitions of the internal topic and of the state's changelog
 */
record DomainPartitioner(int partitions) implements StreamPartitioner<byte[], RoutedRecord> {
    DomainPartitioner {
        if (partitions < 1) {
            throw new IllegalArgumentException("domains need at least 1 partition, but there are " + partitions);
        }
    }

    int of(byte[] domain) {
        return Utils.toPositive(Utils.murmur2(domain)) % partitions;
    }

    @Override
    public Optional<Set<Integer>> partitions(String topic, byte[] domain, RoutedRecord arrival, int there) {
        if (there != partitions) {
            throw new IllegalStateException(
                    "%s has %s, but this scheduler was started for %d; stop all instances and start them again"
                            .formatted(topic, Reason.counted(there, "partition"), partitions));
        }
        return Optional.of(Set.of(of(domain)));
    }
}
