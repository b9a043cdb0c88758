package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;
import static io.lendstream.simulator.report.Text.length;

import java.util.List;

/**
 * A rectangle of a drawing with two axes, and the shapes drawn in it.
 *
 * @param left x of its left edge in the drawing; right, top and bottom likewise
 */
record Panel(double left, double right, double top, double bottom, Scale x, Scale y) {
    /** A value on both axes. */
    record At(double x, double y) {}

    double xOf(double value) {
        return left + (right - left) * x.position(value);
    }

    double yOf(double value) {
        return bottom - (bottom - top) * y.position(value);
    }

    /** Grid lines and labels of the vertical axis, with its title on top of it. */
    String yAxis(String title) {
        StringBuilder svg = new StringBuilder();
        for (Scale.Tick tick : y.ticks()) {
            double at = yOf(tick.value());
            svg.append("<line class=\"grid\" x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>"
                    .formatted(length(left), length(right), length(at), length(at)));
            svg.append("<text class=\"tick\" text-anchor=\"end\" x=\"%s\" y=\"%s\">%s</text>"
                    .formatted(length(left - 6), length(at + 4), escape(tick.label())));
        }
        svg.append("<text class=\"axis\" x=\"%s\" y=\"%s\">%s</text>\n"
                .formatted(length(Math.max(2, left - 48)), length(top - 10), escape(title)));
        return svg.toString();
    }

    /** Labels of the horizontal axis, with its title below. */
    String xAxis(String title) {
        StringBuilder svg = new StringBuilder(xGrid());
        for (Scale.Tick tick : x.ticks()) {
            svg.append("<text class=\"tick\" text-anchor=\"middle\" x=\"%s\" y=\"%s\">%s</text>"
                    .formatted(length(xOf(tick.value())), length(bottom + 17), escape(tick.label())));
        }
        svg.append("<text class=\"axis\" text-anchor=\"middle\" x=\"%s\" y=\"%s\">%s</text>\n"
                .formatted(length((left + right) / 2), length(bottom + 36), escape(title)));
        return svg.toString();
    }

    /** Marks of the horizontal axis without labels. */
    String xGrid() {
        StringBuilder svg = new StringBuilder();
        for (Scale.Tick tick : x.ticks()) {
            double at = xOf(tick.value());
            svg.append("<line class=\"grid faint\" x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>"
                    .formatted(length(at), length(at), length(top), length(bottom)));
        }
        return svg.append("<line class=\"base\" x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>\n"
                        .formatted(length(left), length(right), length(bottom), length(bottom)))
                .toString();
    }

    /** A line through points in a style of the page's sheet. */
    String line(List<At> points, String style) {
        return points.isEmpty() ? "" : path(straight(points, "M"), style);
    }

    /** A line that keeps each point's value until the next one, and the last one's until {@code end}. */
    String steps(List<At> points, double end, String style) {
        return points.isEmpty() ? "" : path(stepped(points, end, "M"), style);
    }

    /** The area between two step lines that share their x values. */
    String area(List<At> lower, List<At> upper, double end, String style) {
        if (upper.isEmpty()) {
            return "";
        }
        StringBuilder path = new StringBuilder(stepped(upper, end, "M"));
        String edge = "L" + length(xOf(end)) + " ";
        for (int i = lower.size() - 1; i >= 0; i--) {
            String y = length(yOf(lower.get(i).y()));
            path.append(i == lower.size() - 1 ? edge + y : "V" + y)
                    .append("H")
                    .append(length(xOf(lower.get(i).x())));
        }
        return path(path.append("Z").toString(), style);
    }

    /** A bar from one value to another. */
    String bar(double fromX, double toX, double fromY, double toY, String style) {
        double high = Math.min(yOf(fromY), yOf(toY));
        double low = Math.max(yOf(fromY), yOf(toY));
        return "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>"
                .formatted(
                        style,
                        length(xOf(fromX)),
                        length(high),
                        length(Math.max(0.8, xOf(toX) - xOf(fromX) - 0.6)),
                        length(low - high));
    }

    /** An invisible strip over the whole height that tells more when pointed at. */
    String hint(double fromX, double toX, String text) {
        return "<rect class=\"hint\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s</title></rect>\n"
                .formatted(
                        length(xOf(fromX)),
                        length(top),
                        length(Math.max(1, xOf(toX) - xOf(fromX))),
                        length(bottom - top),
                        escape(text));
    }

    private static String path(String data, String style) {
        return "<path class=\"%s\" d=\"%s\"/>\n".formatted(style, data);
    }

    private String straight(List<At> points, String move) {
        StringBuilder path = new StringBuilder(move);
        String last = "";
        for (At point : points) {
            String next = length(xOf(point.x())) + " " + length(yOf(point.y()));
            if (!next.equals(last)) {
                path.append(last.isEmpty() ? "" : "L").append(next);
            }
            last = next;
        }
        return path.toString();
    }

    private String stepped(List<At> points, double end, String move) {
        StringBuilder path = new StringBuilder();
        String level = "";
        for (At point : points) {
            String y = length(yOf(point.y()));
            if (path.isEmpty()) {
                path.append(move).append(length(xOf(point.x()))).append(" ").append(y);
            } else if (!y.equals(level)) {
                path.append("H").append(length(xOf(point.x()))).append("V").append(y);
            }
            level = y;
        }
        return path.append("H").append(length(xOf(end))).toString();
    }
}
