package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;
import static io.lendstream.simulator.report.Text.length;

import java.util.List;

/**
 * One shape of a drawing, in its units. Shapes have a style by name: a class of the page's sheet, or two.
 *
 * <p>{@link #svg} writes it for the page, {@link Canvas} paints it.
 */
sealed interface Mark {
    String svg();

    /** A place in the drawing. */
    record Place(double x, double y) {}

    record Line(String style, Place from, Place to) implements Mark {
        @Override
        public String svg() {
            return "<line class=\"%s\" x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>\n"
                    .formatted(style, length(from.x), length(to.x), length(from.y), length(to.y));
        }
    }

    /** Where a text lies from its place. */
    enum Align {
        START,
        MIDDLE,
        END;

        private String svg() {
            return this == START ? "" : " text-anchor=\"%s\"".formatted(this == END ? "end" : "middle");
        }
    }

    record Label(String style, Align align, Place at, String text) implements Mark {
        @Override
        public String svg() {
            return "<text class=\"%s\"%s x=\"%s\" y=\"%s\">%s</text>\n"
                    .formatted(style, align.svg(), length(at.x), length(at.y), escape(text));
        }
    }

    /** Straight lines from place to place; closed, the area between them. */
    record Path(String style, List<Place> places, boolean closed) implements Mark {
        public Path {
            places = List.copyOf(places);
        }

        @Override
        public String svg() {
            StringBuilder data = new StringBuilder();
            String lastX = "";
            String lastY = "";
            for (Place place : places) {
                String x = length(place.x);
                String y = length(place.y);
                if (data.isEmpty()) {
                    data.append("M").append(x).append(" ").append(y);
                } else if (x.equals(lastX) && !y.equals(lastY)) {
                    data.append("V").append(y);
                } else if (y.equals(lastY) && !x.equals(lastX)) {
                    data.append("H").append(x);
                } else if (!x.equals(lastX)) {
                    data.append("L").append(x).append(" ").append(y);
                }
                lastX = x;
                lastY = y;
            }
            return "<path class=\"%s\" d=\"%s\"/>\n".formatted(style, closed ? data.append("Z") : data);
        }
    }

    record Box(String style, Place corner, double width, double height) implements Mark {
        @Override
        public String svg() {
            return "<rect %s/>\n".formatted(attributes());
        }

        private String attributes() {
            return "class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\""
                    .formatted(style, length(corner.x), length(corner.y), length(width), length(height));
        }
    }

    /** A box that cannot be seen and tells more when pointed at. */
    record Hint(Box box, String text) implements Mark {
        @Override
        public String svg() {
            return "<rect %s><title>%s</title></rect>\n".formatted(box.attributes(), escape(text));
        }
    }
}
