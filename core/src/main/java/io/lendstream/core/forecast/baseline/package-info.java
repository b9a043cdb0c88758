/** Published and simple forecast models, for comparison and as parts of combinations. */
@NullMarked
package io.lendstream.core.forecast.baseline;

import org.jspecify.annotations.NullMarked;
