/**
 * Reads and writes core records in Kafka. Undecodable records go to the dead letters, and reading pauses while the
 * registry does not answer. Clients accept every Kafka property under {@code kafka.}.
 */
@NullMarked
package io.lendstream.service.kafka;

import org.jspecify.annotations.NullMarked;
