package io.lendstream.service.text;

import java.util.Locale;

/** One line of a text. Control characters become visible, so that a terminal or a log does not obey them. */
public final class Printable {
    private Printable() {}

    /**
     * The text in one line: a line feed becomes {@code \\n}, a carriage return {@code \\r}, and every other control
     * character, direction mark or other invisible character its code, such as {@code \\u001b}. Tabs stay.
     */
    public static String line(String text) {
        int first = 0;
        while (first < text.length() && isHarmless(text.charAt(first))) {
            first++;
        }
        if (first == text.length()) {
            return text;
        }
        StringBuilder safe = new StringBuilder(text.length() + 16).append(text, 0, first);
        for (int i = first; i < text.length(); ) {
            int point = text.codePointAt(i);
            i += Character.charCount(point);
            if (isVisible(point)) {
                safe.appendCodePoint(point);
            } else {
                safe.append(code(point));
            }
        }
        return safe.toString();
    }

    /** The first line of a text that is not blank, without blanks around it; the whole text if all lines are blank. */
    public static String firstLine(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse(text);
    }

    private static boolean isHarmless(char character) {
        return character == '\t' || (character >= ' ' && character < 0x7f);
    }

    private static boolean isVisible(int point) {
        if (point == '\t') {
            return true;
        }
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    private static String code(int point) {
        return switch (point) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            default -> String.format(Locale.ROOT, point > 0xffff ? "\\u{%x}" : "\\u%04x", point);
        };
    }
}
