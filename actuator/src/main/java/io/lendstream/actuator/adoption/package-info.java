/**
 * Processes of this machine that something else has started: found by the selectors of declared jobs and services, and
 * taken over without a restart.
 */
@NullMarked
package io.lendstream.actuator.adoption;

import org.jspecify.annotations.NullMarked;
