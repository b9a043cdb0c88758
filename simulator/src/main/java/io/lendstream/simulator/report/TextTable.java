package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Tables of text: the first column on the left, the others on the right. */
final class TextTable {
    private static final int GAP = 3;

    private TextTable() {}

    /** The table in characters, with aligned columns. */
    static List<String> lines(List<String> columns, List<List<String>> rows) {
        List<List<String>> table = new ArrayList<>(List.of(columns));
        table.addAll(rows);
        int[] widths = IntStream.range(0, columns.size())
                .map(column -> table.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        return table.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder(row.get(0))
                .append(" ".repeat(widths[0] - row.get(0).length()));
        for (int column = 1; column < widths.length; column++) {
            line.append(" ".repeat(GAP + widths[column] - row.get(column).length()))
                    .append(row.get(column));
        }
        return line.toString();
    }

    /** The table of the page. Cells that name an alarm or a warning are marked. */
    static String html(List<String> columns, List<List<String>> rows) {
        StringBuilder page = new StringBuilder("<div class=\"scroll\"><table class=\"figures\">\n<thead><tr>");
        columns.forEach(column -> page.append("<th class=\"number\">%s</th>".formatted(escape(column))));
        page.append("</tr></thead>\n<tbody>\n");
        for (List<String> row : rows) {
            page.append("<tr><th>%s</th>".formatted(escape(row.get(0))));
            row.stream()
                    .skip(1)
                    .forEach(cell -> page.append("<td class=\"number%s\">%s</td>".formatted(mark(cell), escape(cell))));
            page.append("</tr>\n");
        }
        return page.append("</tbody></table></div>\n").toString();
    }

    private static String mark(String cell) {
        if (cell.contains(RunWarning.Level.ALARM.name())) {
            return " alarm";
        }
        return cell.contains(RunWarning.Level.WARNING.name()) ? " warning" : "";
    }
}
