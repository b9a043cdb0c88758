/** Tests that run for many seeds, and random values for them; for the tests of every module. */
@NullMarked
package io.lendstream.core.seeds;

import org.jspecify.annotations.NullMarked;
