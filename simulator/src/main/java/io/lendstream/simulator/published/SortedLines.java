package io.lendstream.simulator.published;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * A large zipped CSV whose lines are in the order of their first three, whole, columns. Lines are found by bisection and only
 * those that are asked for are parsed: a run needs some hundreds of hundreds of thousands.
 */
final class SortedLines {
    private static final int KEYS = 3;

    private final byte[] text;
    private final int[] starts;

    private SortedLines(byte[] text, int[] starts) {
        this.text = text;
        this.starts = starts;
    }

    static SortedLines read(Path file) {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file), 1 << 16)) {
            byte[] text = in.readAllBytes();
            int[] starts = new int[1024];
            int lines = 0;
            for (int i = 0; i + 1 < text.length; i++) {
                if (text[i] == '\n') {
                    if (lines == starts.length) {
                        starts = Arrays.copyOf(starts, 2 * lines);
                    }
                    starts[lines++] = i + 1;
                }
            }
            return new SortedLines(text, Arrays.copyOf(starts, lines));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    /** The two numbers after a key. */
    Optional<double[]> find(int first, int second, int third) {
        int low = 0;
        int high = starts.length - 1;
        int[] wanted = {first, second, third};
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = compare(starts[middle], wanted);
            if (order == 0) {
                return Optional.of(values(starts[middle]));
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return Optional.empty();
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

    private double[] values(int start) {
        int end = start;
        while (end < text.length && text[end] != '\n') {
            end++;
        }
        String[] cells = new String(text, start, end - start, StandardCharsets.US_ASCII).split(",", -1);
        return new double[] {Double.parseDouble(cells[KEYS]), Double.parseDouble(cells[KEYS + 1])};
    }
}
