package io.lendstream.actuator.jobs;

import java.util.List;

/**
 * How a worker ended.
 *
 * @param code exit code, as a shell reports it
 * @param lastLines the end of its log
 */
record WorkerExit(int code, List<String> lastLines) {
    /** A shell's exit code for a program that it cannot run. */
    static final int CANNOT_START = 127;

    /** The exit of a job that has had no worker. */
    static final WorkerExit NONE = new WorkerExit(0, List.of());

    WorkerExit {
        lastLines = List.copyOf(lastLines);
    }

    static WorkerExit unstarted(String why) {
        return new WorkerExit(CANNOT_START, List.of("cannot be started: " + why));
    }
}
