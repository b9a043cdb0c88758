package io.lendstream.simulator.workload;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A CSV file with a header, gzip or not. An unreadable cell is reported by file, line, column, value and expectation.
 *
 * @param columns the header
 */
public record CsvTable(Path file, List<String> columns, List<CsvRow> rows) {
    /** The first line of a file, which identifies its format. */
    public static List<String> header(Path file) {
        try (BufferedReader in = open(file)) {
            String first = in.readLine();
            return first == null ? List.of() : split(first);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** Reads a file that must have at least these columns. */
    public static CsvTable read(Path file, String... required) {
        try (BufferedReader in = open(file)) {
            String first = in.readLine();
            if (first == null) {
                throw new IllegalArgumentException(
                        "%s is empty; expected a header with %s".formatted(file, String.join(",", required)));
            }
            List<String> columns = split(first);
            for (String column : required) {
                if (!columns.contains(column)) {
                    throw new IllegalArgumentException("%s, line 1: no column '%s' in the header '%s'; expected %s"
                            .formatted(file, column, first, String.join(",", required)));
                }
            }
            List<CsvRow> rows = new ArrayList<>();
            int line = 1;
            for (String text = in.readLine(); text != null; text = in.readLine()) {
                line++;
                if (text.isBlank()) {
                    continue;
                }
                String[] values = text.split(",", -1);
                if (values.length > columns.size()) {
                    throw new IllegalArgumentException("%s, line %d: %d values, expected at most %d: %s"
                            .formatted(file, line, values.length, columns.size(), String.join(",", columns)));
                }
                rows.add(new CsvRow(file, columns, line, List.of(values)));
            }
            return new CsvTable(file, columns, rows);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** The fault lies in the file, not in the program, so the message is for the user. */
    static IllegalArgumentException unreadable(Path file, IOException cause) {
        if (cause instanceof EOFException) {
            return new IllegalArgumentException(
                    "%s is cut off: the gzip stream ends early; copy it again".formatted(file), cause);
        }
        if (cause instanceof ZipException) {
            return new IllegalArgumentException(
                    "%s is not a valid gzip file: %s; copy it again, or take .gz from its name if it is not compressed"
                            .formatted(file, cause.getMessage()),
                    cause);
        }
        return new IllegalArgumentException("%s cannot be read: %s".formatted(file, cause.getMessage()), cause);
    }

    private static List<String> split(String header) {
        String text = header.startsWith("\uFEFF") ? header.substring(1) : header;
        return Arrays.stream(text.split(",", -1)).map(String::trim).toList();
    }

    static BufferedReader open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("there is no file " + file);
        }
        InputStream in = Files.newInputStream(file);
        try {
            boolean zipped = file.toString().endsWith(".gz") && Files.size(file) > 0;
            return new BufferedReader(
                    new InputStreamReader(zipped ? new GZIPInputStream(in) : in, StandardCharsets.UTF_8));
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }
}
