/**
 * Demand ahead of time: request rates of many sources become closed steps of demand, and a model fed step by step says
 * what each horizon will bring, as quantiles. A model looks at nothing but the steps it was fed and keeps a state of
 * constant size that can be saved and restored, so the stream, the replay and the evaluation run the very same code.
 */
@NullMarked
package io.lendstream.core.forecast;

import org.jspecify.annotations.NullMarked;
