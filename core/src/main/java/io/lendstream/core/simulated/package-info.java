/**
 * Simulated nodes, GPUs and drivers that behave like real ones. The demo, replays and tests run on them. Everything
 * follows from a seed, so equal runs show equal samples and equal delays.
 */
@NullMarked
package io.lendstream.core.simulated;

import org.jspecify.annotations.NullMarked;
