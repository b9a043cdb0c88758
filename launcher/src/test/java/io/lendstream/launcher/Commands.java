package io.lendstream.launcher;

import java.io.PrintWriter;
import java.util.List;

/** Runs the launcher's commands for tests in other packages. */
public final class Commands {
    private Commands() {}

    /** Runs one command in this process, and returns its exit code. */
    public static int run(List<String> arguments, PrintWriter out, PrintWriter err) {
        return LendstreamMain.run(arguments.toArray(String[]::new), out, err);
    }
}
