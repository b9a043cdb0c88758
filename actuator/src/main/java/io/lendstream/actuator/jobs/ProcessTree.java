package io.lendstream.actuator.jobs;

import java.util.List;

/** A process with all that came of it: its descendants, and those that have left it but carry the same environment variable. */
public final class ProcessTree {
    /** A process that starts others while they are looked for is found in one of the next rounds. */
    private static final int MOST_ROUNDS = 100;

    private ProcessTree() {}

    /**
     * SIGKILL to all of it.
     *
     * @param variable an environment variable that no other process has with this value
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
