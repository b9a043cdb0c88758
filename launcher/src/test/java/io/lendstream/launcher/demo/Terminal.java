package io.lendstream.launcher.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** As much of a terminal as the screen uses: lines that wrap and scroll, cursor up, erase line, erase below. */
final class Terminal {
    private static final Pattern PIECE = Pattern.compile("\u001b\\[([0-9]*)([A-Z])|\n|[^\u001b\n]");

    private final int columns;
    private final int rows;
    private final List<StringBuilder> lines = new ArrayList<>(List.of(new StringBuilder()));
    private int row;
    private int column;

    Terminal(int columns, int rows) {
        this.columns = columns;
        this.rows = rows;
    }

    void take(String text) {
        for (Matcher piece = PIECE.matcher(text); piece.find(); ) {
            if (piece.group().equals("\n")) {
                feed();
            } else if (piece.group(2) == null) {
                put(piece.group());
            } else {
                control(piece.group(2), piece.group(1));
            }
        }
    }

    private void control(String what, String number) {
        switch (what + (what.equals("A") ? "" : number)) {
            case "A" -> row = Math.max(0, row - Integer.parseInt(number));
            case "K2" -> lines.get(row).setLength(0);
            case "J" -> {
                lines.get(row).setLength(Math.min(lines.get(row).length(), column));
                lines.subList(row + 1, lines.size()).clear();
            }
            default ->
                throw new IllegalArgumentException("this terminal does not know ESC[%s%s".formatted(number, what));
        }
    }

    private void put(String character) {
        if (column == columns) {
            feed();
        }
        StringBuilder line = lines.get(row);
        line.append(" ".repeat(Math.max(0, column - line.length())));
        line.replace(column, Math.min(line.length(), column + 1), character);
        column++;
    }

    private void feed() {
        column = 0;
        row++;
        if (row == lines.size()) {
            lines.add(new StringBuilder());
        }
        if (lines.size() > rows) {
            lines.remove(0);
            row--;
        }
    }

    /** What can be seen, up to the cursor's line. */
    List<String> lines() {
        return lines.subList(0, row).stream()
                .map(line -> line.toString().stripTrailing())
                .toList();
    }
}
