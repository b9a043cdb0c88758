package io.lendstream.actuator.driver;

/** A webhook's or command's answer, cut for reports and logs: one line, without control characters. */
final class Shortened {
    private static final int LONGEST = 200;

    private Shortened() {}

    static String of(String text) {
        String line = text.strip().replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "");
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
    }
}
