/** Measurements on demand: each says what it does and ends with one line of JSON. */
@NullMarked
package io.lendstream.benchmarks;

import org.jspecify.annotations.NullMarked;
