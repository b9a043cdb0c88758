package io.lendstream.core.decision;

import java.time.Instant;

/**
 * What the scheduler wants done, why, and how to recognise it again.
 *
 * @param at the time of the event that led to it
 * @param deadline until when it has to be in force
 * @param advisory whether it is only advice, which actuators refuse to carry out
 */
public record Decision(DecisionId id, Instant at, Instant deadline, boolean advisory, Reason reason, Action action) {}
