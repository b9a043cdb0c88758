package io.lendstream.actuator.driver;

/** What somebody outside has answered, fit for a report and a log: one line, without control characters, not too long. */
final class Shortened {
    private static final int LONGEST = 200;

    private Shortened() {}

    static String of(String text) {
        String line = text.strip().replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "");
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
    }
}
