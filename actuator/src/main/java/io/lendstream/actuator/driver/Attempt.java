package io.lendstream.actuator.driver;

import java.time.Duration;

/** What came of one try at an order. */
sealed interface Attempt {
    /** All of it is so. */
    record Done() implements Attempt {}

    /** It is under way, or something that passes was in the way: the same try again after a while. */
    record Again(Duration after, String why) implements Attempt {}

    /** It will not be so. */
    record Hopeless(String why) implements Attempt {}
}
