package io.lendstream.service.kafka;

import io.lendstream.core.event.Origin;
import java.util.Optional;

/**
 * A record that was read.
 *
 * @param value what it stands for; empty for a tombstone, by which its key is gone
 */
public record Received<T>(String key, Optional<T> value, Origin origin) {}
