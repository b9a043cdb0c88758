/**
 * How good forecasts are: models are fed a recorded series step by step, as the stream would, and what they said is
 * held against what came.
 */
@NullMarked
package io.lendstream.simulator.forecasting;

import org.jspecify.annotations.NullMarked;
