/**
 * What the scheduler wants done, why, and how to recognise it again. A decision is data: it can be logged, explained,
 * replayed and refused.
 */
@NullMarked
package io.lendstream.core.decision;

import org.jspecify.annotations.NullMarked;
