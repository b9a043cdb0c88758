/** Immutable sorted maps that share structure: a step makes a new state without copying the old one. */
@NullMarked
package io.lendstream.core.persistent;

import org.jspecify.annotations.NullMarked;
