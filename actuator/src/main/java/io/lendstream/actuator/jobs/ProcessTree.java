package io.lendstream.actuator.jobs;

import java.util.List;

/** A process with its descendants, and with processes that left it but have the same environment variable. */
public final class ProcessTree {
    /** Rounds of the search: a process that forks during one round is found in a later one. */
    private static final int MOST_ROUNDS = 100;

    private ProcessTree() {}

    /**
     * Sends SIGKILL to all of them.
     *
     * @param variable an environment variable whose value is unique to this tree
     */
    public static void kill(Process root, String variable, String value) {
        root.descendants().forEach(ProcessHandle::destroyForcibly);
        root.destroyForcibly();
        for (int round = 0; round < MOST_ROUNDS; round++) {
            List<OsProcess> left = OsProcess.carrying(variable, value);
            if (left.isEmpty()) {
                return;
            }
            left.forEach(OsProcess::kill);
        }
    }
}
