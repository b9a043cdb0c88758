/** Code that breaks the rules of embedded on purpose, to see that the rules find it. It is never run. */
@NullMarked
package io.lendstream.launcher.architecture.broken.embedded;

import org.jspecify.annotations.NullMarked;
