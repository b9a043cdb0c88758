/**
 * The {@code lendstream} command: one face for everything that the modules do.
 * It reads options, calls the module that knows, and turns what went wrong into one line and an exit code.
 */
@NullMarked
package io.lendstream.launcher;

import org.jspecify.annotations.NullMarked;
