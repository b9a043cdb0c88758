package io.lendstream.core.id;

/** What every identifier has to be: something, not blank, and short enough for a record key. */
final class Names {
    private static final int LONGEST = 249;

    private Names() {}

    static void check(String kind, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException("%s must not be blank".formatted(kind));
        }
        if (value.length() > LONGEST) {
            throw new IllegalArgumentException("%s must have at most %d characters, but has %d: %s..."
                    .formatted(kind, LONGEST, value.length(), value.substring(0, 40)));
        }
    }
}
