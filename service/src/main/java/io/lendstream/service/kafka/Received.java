package io.lendstream.service.kafka;

import io.lendstream.core.event.Origin;
import java.util.Optional;

/**
 * A record that was read.
 *
 * @param value the decoded value; empty for a tombstone, which deletes its key
 */
public record Received<T>(String key, Optional<T> value, Origin origin) {}
