/**
 * Targets of a fuzzer, a reader of untrusted input each: {@code ./dev fuzz} runs them, and the inputs that it found are kept
 * as tests. A target is a class with {@code fuzzerTestOneInput}; what it throws is a defect.
 */
@NullMarked
package io.lendstream.fuzz;

import org.jspecify.annotations.NullMarked;
