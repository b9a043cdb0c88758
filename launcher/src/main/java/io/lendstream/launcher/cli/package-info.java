/** Common parts of all commands: errors, exit codes, bounds of options, short names and times. */
@NullMarked
package io.lendstream.launcher.cli;

import org.jspecify.annotations.NullMarked;
