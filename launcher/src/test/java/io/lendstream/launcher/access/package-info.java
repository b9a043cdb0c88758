/** Tests of {@link io.lendstream.launcher.access}. */
@NullMarked
package io.lendstream.launcher.access;

import org.jspecify.annotations.NullMarked;
