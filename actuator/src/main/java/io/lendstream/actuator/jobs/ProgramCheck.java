package io.lendstream.actuator.jobs;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds, before a start, what keeps a program from running on this node: no working directory, no such file, or no
 * right to run it. A shell would say so too, but only in the log of a worker that seemed to start.
 */
final class ProgramCheck {
    /** A shell's exit codes for a program that it may not run, and for one that it does not find. */
    private static final Set<Integer> CANNOT_RUN = Set.of(126, 127);

    /** Commands of the shell that starts programs, which need no file. */
    private static final Set<String> OF_SHELL = Set.of(
            ".", ":", "cd", "command", "eval", "exec", "exit", "export", "set", "trap", "type", "ulimit", "umask",
            "unset", "wait");

    /** Where a shell looks for programs if it has no PATH. */
    private static final String USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private ProgramCheck() {}

    /** Whether a shell ended with this code because it could not run the program. */
    static boolean isNotRun(int code) {
        return CANNOT_RUN.contains(code);
    }

    /**
     * The problem of a program, with the way out; empty if there is none.
     *
     * @param path its variable PATH, if it has one
     */
    static Optional<String> complaint(List<String> command, Path directory, Optional<String> path) {
        if (!Files.isDirectory(directory)) {
            return Optional.of(
                    "its working directory %s does not exist on this machine; create it, or name another in \"directory\""
                            .formatted(directory));
        }
        String program = command.get(0);
        try {
            return program.indexOf('/') >= 0
                    ? complaint(directory.resolve(program))
                    : complaint(program, directory, path.orElse(USUAL_PATH));
        } catch (InvalidPathException e) {
            return Optional.of("its program '%s' is no name of a file: %s".formatted(program, e.getReason()));
        }
    }

    private static Optional<String> complaint(Path program) {
        if (!Files.exists(program)) {
            return Optional.of("its program %s does not exist on this machine; install it, or correct \"command\""
                    .formatted(program));
        }
        if (Files.isDirectory(program)) {
            return Optional.of("its program %s is a directory; name a file in it in \"command\"".formatted(program));
        }
        return Files.isExecutable(program)
                ? Optional.empty()
                : Optional.of("this user may not run its program %s; set its permissions, such as chmod a+rx %s"
                        .formatted(program, program));
    }

    private static Optional<String> complaint(String program, Path directory, String path) {
        boolean isFound = OF_SHELL.contains(program)
                || Arrays.stream(path.split(File.pathSeparator, -1))
                        .map(part -> directory.resolve(part).resolve(program))
                        .anyMatch(file -> !Files.isDirectory(file) && Files.isExecutable(file));
        return isFound
                ? Optional.empty()
                : Optional.of(
                        "its program %s is in no directory of PATH (%s) on this machine; install it, or write its full path in \"command\""
                                .formatted(program, path));
    }
}
