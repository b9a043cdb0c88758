package io.lendstream.service.kafka;

import io.lendstream.core.event.Origin;
import java.time.Instant;
import java.util.Optional;

/**
 * A record that was read.
 *
 * @param value the decoded value; empty for a tombstone, which deletes its key
 * @param written the time when the broker appended the record; that of its writer in a topic without
 *     {@code LogAppendTime}
 */
public record Received<T>(String key, Optional<T> value, Origin origin, Instant written) {}
