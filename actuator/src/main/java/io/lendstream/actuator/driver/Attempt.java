package io.lendstream.actuator.driver;

import java.time.Duration;

/** The result of one attempt to execute an order. */
sealed interface Attempt {
    /** The order is completely executed. */
    record Done() implements Attempt {}

    /** The order is in progress, or a temporary problem occurred: the same attempt is repeated after a pause. */
    record Again(Duration after, String why) implements Attempt {}

    /** The order cannot be executed. */
    record Hopeless(String why) implements Attempt {}
}
