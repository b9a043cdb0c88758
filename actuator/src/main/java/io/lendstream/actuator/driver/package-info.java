/** Drivers execute decisions. Each driver executes its orders asynchronously, and reports events. */
@NullMarked
package io.lendstream.actuator.driver;

import org.jspecify.annotations.NullMarked;
