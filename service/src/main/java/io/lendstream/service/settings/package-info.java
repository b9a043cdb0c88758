/**
 * Settings of a service from the command line, the environment and a file. Each setting describes itself; an unknown
 * setting stops the start.
 */
@NullMarked
package io.lendstream.service.settings;

import org.jspecify.annotations.NullMarked;
