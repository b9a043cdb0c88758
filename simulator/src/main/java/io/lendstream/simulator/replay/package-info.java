/**
 * A whole deployment in one thread and in virtual time: the world, the actuator, the forecaster and the scheduler's
 * pure step, fed in the order of events. Equal settings give equal logs and decisions.
 */
@NullMarked
package io.lendstream.simulator.replay;

import org.jspecify.annotations.NullMarked;
