package io.lendstream.scheduler;

import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StreamPartitioner;

/**
 * Which partition a domain is worked on in: the one that Kafka gives its name as a key.
 *
 * @param partitions of the internal topic, and of what a domain's state is kept in
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
                    "%s has %d partitions, but this scheduler was started for %d; stop all instances and start them again"
                            .formatted(topic, there, partitions));
        }
        return Optional.of(Set.of(of(domain)));
    }
}
