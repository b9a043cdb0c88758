package io.lendstream.actuator.adoption;

import java.util.List;

/** A pattern for a whole text: {@code *} stands for any text, also for none; each other character for itself. */
final class Glob {
    private final List<String> parts;

    Glob(String pattern) {
        this.parts = List.of(pattern.split("\\*", -1));
    }

    /** Whether the whole text fits. The time grows with the length of the text, not with the number of {@code *}. */
    boolean matches(String text) {
        String first = parts.get(0);
        String last = parts.get(parts.size() - 1);
        if (parts.size() == 1) {
            return text.equals(first);
        }
        int end = text.length() - last.length();
        if (!text.startsWith(first) || !text.endsWith(last) || end < first.length()) {
            return false;
        }
        int from = first.length();
        for (String part : parts.subList(1, parts.size() - 1)) {
            int at = text.indexOf(part, from);
            if (at < 0 || at + part.length() > end) {
                return false;
            }
            from = at + part.length();
        }
        return true;
    }
}
