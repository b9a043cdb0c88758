package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;

/**
 * A unit that is kept for a tenant within its nominal quota, until all units that it asked for are free.
 *
 * @param until when the promise ends by itself
 */
public record Promise(GpuId unit, Tenant tenant, Instant until) {}
