/** Chooses the loans that are taken back: those whose loss costs training least. */
@NullMarked
package io.lendstream.core.policy.reclaim;

import org.jspecify.annotations.NullMarked;
