/**
 * {@code ./dev soak}: plays lending for hours on real processes, and sees whether any of them grows. What they hold is sampled,
 * and its slope judged with its uncertainty.
 */
@NullMarked
package io.lendstream.benchmarks.soak;

import org.jspecify.annotations.NullMarked;
