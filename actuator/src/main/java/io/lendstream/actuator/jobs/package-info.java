/**
 * Runs training jobs on a node and changes their GPUs while they run. {@code docs/afe.md} describes the protocol with
 * worker processes.
 */
@NullMarked
package io.lendstream.actuator.jobs;

import org.jspecify.annotations.NullMarked;
