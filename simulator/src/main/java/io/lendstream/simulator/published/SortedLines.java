package io.lendstream.simulator.published;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/**
 * A large zipped CSV of whole numbers whose lines are in the order of their first three. Lines are found by bisection
 * and only those that are asked for are parsed: a run needs some hundreds of tens of thousands.
 */
final class SortedLines {
    private static final int KEYS = 3;

    private final byte[] text;
    private final int[] starts;

    private SortedLines(byte[] text, int[] starts) {
        this.text = text;
        this.starts = starts;
    }

    static SortedLines read(InputStream zipped) {
        try (InputStream in = new GZIPInputStream(zipped, 1 << 16)) {
            byte[] text = in.readAllBytes();
            int[] starts = new int[1024];
            int lines = 0;
            for (int i = 0; i < text.length; i++) {
                if (i == 0 || text[i - 1] == '\n') {
                    if (lines == starts.length) {
                        starts = Arrays.copyOf(starts, 2 * lines);
                    }
                    starts[lines++] = i;
                }
            }
            return new SortedLines(text, Arrays.copyOf(starts, lines));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The values of the greatest key with these first two numbers and at most this third one. */
    Optional<int[]> floor(int first, int second, int third) {
        int low = 0;
        int high = starts.length - 1;
        int[] wanted = {first, second, third};
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (compare(starts[middle], wanted) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        int[] found = high < 0 ? new int[KEYS] : numbers(starts[high]);
        return high >= 0 && found[0] == first && found[1] == second
                ? Optional.of(Arrays.copyOfRange(found, KEYS, found.length))
                : Optional.empty();
    }

    private int compare(int start, int[] wanted) {
        int at = start;
        for (int key : wanted) {
            int value = 0;
            for (; text[at] != ','; at++) {
                value = value * 10 + text[at] - '0';
            }
            if (value != key) {
                return Integer.compare(value, key);
            }
            at++;
        }
        return 0;
    }

    private int[] numbers(int start) {
        int end = start;
        while (end < text.length && text[end] != '\n') {
            end++;
        }
        return Stream.of(new String(text, start, end - start, StandardCharsets.US_ASCII).split(",", -1))
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
