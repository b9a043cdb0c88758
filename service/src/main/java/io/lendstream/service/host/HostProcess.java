package io.lendstream.service.host;

import java.util.Optional;

/**
 * A process of this host, identified even if its PID is reused.
 *
 * @param parent PID of its parent; 0 without one
 * @param startTicks when it started, in clock ticks since the start of the machine
 * @param command its name, of at most 15 characters
 * @param executable path of its program; empty if this user may not read it
 * @param owner number of the user that runs it
 */
public record HostProcess(
        long pid, long parent, long startTicks, String command, Optional<String> executable, long owner) {
    /** The longest name of a process in Linux. */
    private static final int LONGEST_COMMAND = 15;

    /** The process itself as a GPU's user. */
    public ProcessName name() {
        return new ProcessName(pid, startTicks);
    }

    /** Whether both are of one program and one owner. */
    public boolean isLike(HostProcess other) {
        boolean areReadable = executable.isPresent() && other.executable.isPresent();
        boolean isOneProgram = areReadable ? executable.equals(other.executable) : command.equals(other.command);
        return owner == other.owner && isOneProgram;
    }

    /**
     * Whether its program has this file name. The name of the process is compared if the path is not readable.
     *
     * @param pattern a file name; with {@code *} at its end all names that start so
     */
    public boolean runs(String pattern) {
        boolean isPrefix = pattern.endsWith("*");
        String wanted = isPrefix ? pattern.substring(0, pattern.length() - 1) : pattern;
        String name = executable
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .orElse(command);
        if (executable.isEmpty() && wanted.length() >= LONGEST_COMMAND) {
            return name.equals(wanted.substring(0, LONGEST_COMMAND)); // Linux cuts the name here
        }
        return isPrefix ? name.startsWith(wanted) : name.equals(wanted);
    }
}
