/**
 * At most one of the instances of an actuator is active. The others are on standby, and one of them takes over when the
 * active instance ends or is cut off.
 */
@NullMarked
package io.lendstream.actuator.standby;

import org.jspecify.annotations.NullMarked;
