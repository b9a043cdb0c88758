/**
 * A cluster's surroundings in virtual time: training jobs that make progress and requests that are answered, as far as
 * they have GPUs. A replay adds the scheduler, the actuator and the forecaster, in one thread.
 */
@NullMarked
package io.lendstream.simulator;

import org.jspecify.annotations.NullMarked;
