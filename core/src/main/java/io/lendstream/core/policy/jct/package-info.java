/**
 * The policy {@code lendstream}, and the objective that it shares with the oracle: jobs end soonest on average.
 */
@NullMarked
package io.lendstream.core.policy.jct;

import org.jspecify.annotations.NullMarked;
