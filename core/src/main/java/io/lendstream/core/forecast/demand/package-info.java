/** Request rates of many sources become closed steps of demand. */
@NullMarked
package io.lendstream.core.forecast.demand;

import org.jspecify.annotations.NullMarked;
