package io.lendstream.core.state;

import java.time.Instant;

/** The greatest demand of a service in the minute that began at {@code minute}, in requests per second. */
public record DemandPeak(Instant minute, double requestsPerSecond) {}
