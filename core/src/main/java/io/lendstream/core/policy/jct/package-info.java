/**
 * The policy {@code lendstream}, and the objective that it shares with the oracle: all jobs together end soonest.
 */
@NullMarked
package io.lendstream.core.policy.jct;

import org.jspecify.annotations.NullMarked;
