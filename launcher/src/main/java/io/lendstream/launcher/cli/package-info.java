/** Common parts of all commands: errors, exit codes, bounds of options and short names. */
@NullMarked
package io.lendstream.launcher.cli;

import org.jspecify.annotations.NullMarked;
