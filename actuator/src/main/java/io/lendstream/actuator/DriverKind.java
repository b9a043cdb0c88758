package io.lendstream.actuator;

/** The kinds of drivers that execute decisions. */
enum DriverKind {
    /** Runs nothing; simulates the delays. */
    SIMULATED,
    /** Runs processes on this node, from the node's own program files. */
    PROCESS,
    /** Calls a program of the site. */
    COMMAND,
    /** Posts to an address of the site. */
    WEBHOOK
}
