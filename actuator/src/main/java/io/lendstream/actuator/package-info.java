/** Carries decisions out and reports what became of them. What an actuator owes is in {@code core.actuation}; here it gets its ears, its mouth and a memory that outlives the process. */
@NullMarked
package io.lendstream.actuator;

import org.jspecify.annotations.NullMarked;
