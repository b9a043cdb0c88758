/** A package in a cycle with {@code second}. */
@NullMarked
package io.lendstream.launcher.architecture.broken.core.first;

import org.jspecify.annotations.NullMarked;
