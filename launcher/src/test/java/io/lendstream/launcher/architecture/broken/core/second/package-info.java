/** A package in a cycle with {@code first}. */
@NullMarked
package io.lendstream.launcher.architecture.broken.core.second;

import org.jspecify.annotations.NullMarked;
