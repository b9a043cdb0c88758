/** Texts for operators, without a broker. */
@NullMarked
package io.lendstream.launcher.operation;

import org.jspecify.annotations.NullMarked;
