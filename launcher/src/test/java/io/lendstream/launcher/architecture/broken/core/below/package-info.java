/** A package that depends on nothing. */
@NullMarked
package io.lendstream.launcher.architecture.broken.core.below;

import org.jspecify.annotations.NullMarked;
