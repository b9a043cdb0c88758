/**
 * The state of one domain: nodes, GPUs with their owners, services, jobs, leases, and the indexes kept beside them.
 * Values are immutable; {@code core.scheduler} makes the next state from an event.
 */
@NullMarked
package io.lendstream.core.state;

import org.jspecify.annotations.NullMarked;
