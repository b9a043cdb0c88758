/**
 * Transitions from the running GPU instances to the instances of a plan, without a service ever falling short; and when
 * a new plan is worth the way.
 */
@NullMarked
package io.lendstream.core.repartition;

import org.jspecify.annotations.NullMarked;
