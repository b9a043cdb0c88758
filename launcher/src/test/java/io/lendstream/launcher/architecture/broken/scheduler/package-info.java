/** Code that breaks the rules of scheduler on purpose, to see that the rules find it. It is never run. */
@NullMarked
package io.lendstream.launcher.architecture.broken.scheduler;

import org.jspecify.annotations.NullMarked;
