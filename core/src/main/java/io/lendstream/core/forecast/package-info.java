/**
 * What a forecast model is, and the numerics that models share. A model is fed one demand value a step, keeps a state
 * of constant size, and returns quantiles for each horizon. Production, replay and evaluation run the same code.
 */
@NullMarked
package io.lendstream.core.forecast;

import org.jspecify.annotations.NullMarked;
