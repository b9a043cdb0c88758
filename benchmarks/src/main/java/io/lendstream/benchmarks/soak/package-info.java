/**
 * {@code ./dev soak}: lends for hours on real processes and checks that no process grows. Figures of the processes
 * are sampled, and their slopes are judged with their uncertainty.
 */
@NullMarked
package io.lendstream.benchmarks.soak;

import org.jspecify.annotations.NullMarked;
