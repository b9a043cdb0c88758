package io.lendstream.core.history;

/**
 * A promise that was broken.
 *
 * @param rule which one
 * @param text where and how
 */
public record Violation(String rule, String text) {
    @Override
    public String toString() {
        return rule + ": " + text;
    }
}
