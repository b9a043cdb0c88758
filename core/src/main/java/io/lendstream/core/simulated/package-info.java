/**
 * Nodes, GPUs and drivers that do not exist but behave like those that do: what the demo, replays and tests run on.
 * Everything follows from a seed, so equal runs show equal samples and equal delays.
 */
@NullMarked
package io.lendstream.core.simulated;

import org.jspecify.annotations.NullMarked;
