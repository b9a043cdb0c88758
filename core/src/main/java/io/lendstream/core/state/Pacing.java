package io.lendstream.core.state;

import java.time.Instant;

/**
 * That fewer GPUs than usual may be on their way at a time.
 *
 * @param transfers so many
 * @param cutAt when a missed SLO last lowered it
 */
public record Pacing(int transfers, Instant cutAt) {}
