package io.lendstream.actuator;

/** What carries decisions out. */
enum DriverKind {
    /** Nothing runs; delays are as they would be. */
    SIMULATED,
    /** Processes of this node, as its own files say. */
    PROCESS,
    /** A program of the site's. */
    COMMAND,
    /** An address of the site's. */
    WEBHOOK
}
