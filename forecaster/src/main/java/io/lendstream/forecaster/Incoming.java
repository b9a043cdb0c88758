package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;

/** A received record of request rates, decoded or refused. */
sealed interface Incoming {
    record Measured(RequestRate rate) implements Incoming {}

    record Poison(RateDeadLetter letter) implements Incoming {}
}
