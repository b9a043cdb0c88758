/** What all commands share: errors that a person can act on, exit codes, and bounds of options. */
@NullMarked
package io.lendstream.launcher.cli;

import org.jspecify.annotations.NullMarked;
