package io.lendstream.core.event;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The program of a job that brings its own, in place of a program file on the machine. Only an actuator whose settings
 * allow it runs the program.
 *
 * @param command the program and its arguments; no shell reads them
 * @param directory the working directory on the machine of the actuator; an absolute path
 * @param mode how it follows a change of its GPUs
 */
public record SubmittedProgram(List<String> command, String directory, ProgramMode mode) {
    /**
     * The driver of jobs with such a program. No earlier version has a driver of this name: it refuses the job, and
     * does not run the program file of the job's application.
     */
    public static final String DRIVER = "process-command";

    /** The most entries of a command. */
    public static final int MOST_ARGUMENTS = 64;

    /** The most bytes of the command and the directory together, in UTF-8. */
    public static final int MOST_BYTES = 8 << 10;

    public SubmittedProgram {
        command = List.copyOf(command);
    }

    /**
     * Checks a program that arrives.
     *
     * @throws IllegalArgumentException if it breaks a bound
     */
    void check() {
        if (command.isEmpty() || command.get(0).isEmpty()) {
            throw new IllegalArgumentException(
                    "command has no program, but must start with one; name it, such as python3");
        }
        if (command.size() > MOST_ARGUMENTS) {
            throw new IllegalArgumentException(
                    "command has %d entries, but must have at most %d; put the others into a script"
                            .formatted(command.size(), MOST_ARGUMENTS));
        }
        int bytes = bytes(directory);
        for (String argument : command) {
            bytes += bytes(argument);
            checkNul("command", argument);
        }
        if (bytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "command and directory have %d bytes, but must have at most %d together; put long arguments into a file"
                            .formatted(bytes, MOST_BYTES));
        }
        checkNul("directory", directory);
        if (!directory.startsWith("/")) {
            throw new IllegalArgumentException(
                    "directory is '%s', but must be an absolute path on the machine that runs the job, such as /srv/bert"
                            .formatted(directory));
        }
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static void checkNul(String name, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "%s has a NUL character, which no process can get; remove it".formatted(name));
        }
    }
}
