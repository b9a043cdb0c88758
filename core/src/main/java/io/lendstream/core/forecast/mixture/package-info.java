/** Our own forecast model: a mixture of experts over levels and seasons, with calibrated tails. See ADR 19. */
@NullMarked
package io.lendstream.core.forecast.mixture;

import org.jspecify.annotations.NullMarked;
