package io.lendstream.launcher;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs several commands in one process. The {@code lendstream} script starts it after a build, so that one class data
 * archive holds the classes of all of them.
 */
final class ArchivedCommands {
    private static final String SEPARATOR = "+";

    private ArchivedCommands() {}

    /** Runs commands that are separated by a plus sign; exits with the first exit code that is not 0. */
    public static void main(String[] args) {
        System.exit(run(List.of(args)));
    }

    private static int run(List<String> args) {
        PrintWriter nowhere = new PrintWriter(PrintWriter.nullWriter());
        List<String> command = new ArrayList<>();
        for (String argument : args) {
            if (!argument.equals(SEPARATOR)) {
                command.add(argument);
                continue;
            }
            int code = LendstreamMain.run(command.toArray(String[]::new), nowhere, nowhere);
            if (code != 0) {
                return code;
            }
            command.clear();
        }
        return LendstreamMain.run(command.toArray(String[]::new), nowhere, nowhere);
    }
}
