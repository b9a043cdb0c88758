/** Code that breaks the rules of forecaster on purpose, to see that the rules find it. It is never run. */
@NullMarked
package io.lendstream.launcher.architecture.broken.forecaster;

import org.jspecify.annotations.NullMarked;
