/**
 * Which GPUs a job gets once its number of GPUs is known: a knapsack over groups of sizes, and placement on few nodes.
 */
@NullMarked
package io.lendstream.core.policy.placement;

import org.jspecify.annotations.NullMarked;
