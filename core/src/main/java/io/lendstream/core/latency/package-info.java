/** How long a batch of inference takes on a slice of a GPU, learned from few measurements. */
@NullMarked
package io.lendstream.core.latency;

import org.jspecify.annotations.NullMarked;
