/**
 * The one step that every caller drives: a state and an event give the next state and the decisions. Transfers are
 * legal and two-phase whatever a policy proposes.
 */
@NullMarked
package io.lendstream.core.scheduler;

import org.jspecify.annotations.NullMarked;
