/** Policies of other published systems, for comparison, and the clairvoyant upper bound. */
@NullMarked
package io.lendstream.core.policy.published;

import org.jspecify.annotations.NullMarked;
