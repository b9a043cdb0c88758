/** What an actuator owes the scheduler: to obey each decision once, never a stale or an advisory one, to free a GPU before anybody else gets it, and to return what is lent when the lease ends. It is a state machine without a clock or a driver of its own, so that services, replays and tests run the very same rules. */
@NullMarked
package io.lendstream.core.actuation;

import org.jspecify.annotations.NullMarked;
