package io.lendstream.core.history;

import io.lendstream.core.event.Origin;
import java.time.Instant;
import java.util.Optional;

/**
 * An event that led to a decision, in short.
 *
 * @param sequence its place in the domain's log
 * @param kind such as {@code request-rate}
 * @param origin the record it came from; empty for what the scheduler made itself
 * @param gist its facts, for people
 */
public record KeptInput(long sequence, Instant at, String kind, Optional<Origin> origin, String gist) {}
