package io.lendstream.launcher.cli;

import io.lendstream.service.text.Printable;
import picocli.CommandLine.Help.Ansi;

/** Colours the words that name alarms and warnings, on a terminal that has colours. */
public final class Marks {
    private static final String RED = "\u001b[1;31m";
    private static final String YELLOW = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";

    private Marks() {}

    /** A line without control characters, with coloured marks. */
    public static String line(String line) {
        return line(line, Ansi.AUTO.enabled());
    }

    static String line(String line, boolean colours) {
        String safe = Printable.line(line);
        return colours
                ? safe.replace("ALARM", RED + "ALARM" + PLAIN).replace("WARNING", YELLOW + "WARNING" + PLAIN)
                : safe;
    }
}
