/** Mutation tests of core: bugs are seeded by PIT, and what share of them the tests notice is counted. */
@NullMarked
package io.lendstream.mutation;

import org.jspecify.annotations.NullMarked;
