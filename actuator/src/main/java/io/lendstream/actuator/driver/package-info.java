/** What carries decisions out: each driver brings about what it is ordered, in its own time, and tells what has happened. */
@NullMarked
package io.lendstream.actuator.driver;

import org.jspecify.annotations.NullMarked;
