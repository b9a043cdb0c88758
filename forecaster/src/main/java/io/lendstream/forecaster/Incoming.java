package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;

/** What a record of the request rates turned out to be. */
sealed interface Incoming {
    record Measured(RequestRate rate) implements Incoming {}

    record Poison(RateDeadLetter letter) implements Incoming {}
}
