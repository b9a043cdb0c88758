/** What clusters do to the scheduler and its actuator, done to real processes on a real broker; every run ends with the history checker. */
@NullMarked
package io.lendstream.launcher.faults;

import org.jspecify.annotations.NullMarked;
