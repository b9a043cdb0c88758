/** Runs training jobs on a node and changes their GPUs while they run. What it tells worker processes, and they it, is in {@code docs/afe.md}. */
@NullMarked
package io.lendstream.actuator.jobs;

import org.jspecify.annotations.NullMarked;
