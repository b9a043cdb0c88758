package io.lendstream.actuator;

/** What carries decisions out. */
enum Driver {
    /** Nothing runs; delays are as they would be. */
    SIMULATED,
    /** Nothing runs; every decision is reported in force at once, and said in the log. */
    DRY_RUN
}
