/** Code that breaks the rules of core on purpose, to see that the rules find it. It is never run. */
@NullMarked
package io.lendstream.launcher.architecture.broken.core;

import org.jspecify.annotations.NullMarked;
