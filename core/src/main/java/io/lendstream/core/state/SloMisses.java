package io.lendstream.core.state;

import io.lendstream.core.id.ServiceId;
import java.time.Instant;

/**
 * Windows in a row in which a service missed its SLO, as one source of request rates saw it.
 *
 * @param source who measured the latency
 * @param windows their number; at least 1
 * @param lastEnd end of the last of them
 */
public record SloMisses(ServiceId service, String source, int windows, Instant lastEnd) {}
