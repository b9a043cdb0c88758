/**
 * Executes decisions and reports the results. {@code core.actuation} has the logic; this package adds Kafka, drivers
 * and state that survives a restart.
 */
@NullMarked
package io.lendstream.actuator;

import org.jspecify.annotations.NullMarked;
