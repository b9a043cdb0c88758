/**
 * The rules that an actuator keeps: obey each decision once, never an outdated or advisory one; free a GPU before
 * another tenant gets it; take a lent GPU back when its lease ends. The state machine has no clock and no driver of its
 * own, so that services, replays and tests run the same rules.
 */
@NullMarked
package io.lendstream.core.actuation;

import org.jspecify.annotations.NullMarked;
