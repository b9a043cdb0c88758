/**
 * The shape of the code as rules, and code that breaks them.
 * The rules are tried on both, for a rule that finds nothing proves nothing.
 */
@NullMarked
package io.lendstream.launcher.architecture;

import org.jspecify.annotations.NullMarked;
