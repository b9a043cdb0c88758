/**
 * Inference in batches on slices of GPUs, played in virtual time: measured latencies, arrivals, and a server for them.
 */
@NullMarked
package io.lendstream.simulator.batching;

import org.jspecify.annotations.NullMarked;
