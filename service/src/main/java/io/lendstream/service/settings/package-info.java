/** What a service may be told at its start, from the command line, the environment and a file. Each setting describes itself, and what no setting takes stops the start. */
@NullMarked
package io.lendstream.service.settings;

import org.jspecify.annotations.NullMarked;
