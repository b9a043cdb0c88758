/** Code that breaks the rules of simulator on purpose, to see that the rules find it. It is never run. */
@NullMarked
package io.lendstream.launcher.architecture.broken.simulator;

import org.jspecify.annotations.NullMarked;
