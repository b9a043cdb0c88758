package io.lendstream.core.state;

import java.time.Instant;

/**
 * Loans that a decision began.
 *
 * @param gpus inference GPUs that it lent; where whole nodes are lent, all GPUs of these
 */
public record LoanStart(Instant at, int gpus) {}
