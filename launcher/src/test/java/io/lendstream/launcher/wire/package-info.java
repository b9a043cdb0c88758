/** Proof that other programs can read what we write and write what we read. */
@NullMarked
package io.lendstream.launcher.wire;

import org.jspecify.annotations.NullMarked;
