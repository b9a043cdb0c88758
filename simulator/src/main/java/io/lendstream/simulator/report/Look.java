package io.lendstream.simulator.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a shape is painted.
 *
 * @param pen what lines are drawn with
 */
record Look(Optional<Color> fill, Optional<Color> stroke, BasicStroke pen) {
    private static Look area(Color color) {
        return new Look(Optional.of(color), Optional.empty(), new BasicStroke());
    }

    private static Look line(Color color, double width, float... dashes) {
        return new Look(
                Optional.empty(),
                Optional.of(color),
                new BasicStroke(
                        (float) width,
                        BasicStroke.CAP_BUTT,
                        BasicStroke.JOIN_ROUND,
                        10,
                        dashes.length == 0 ? null : dashes,
                        0));
    }

    /** The looks of the page's styles, with the light colours of its sheet. */
    static final class Sheet {
        private static final Pattern LIGHT = Pattern.compile(":root \\{([^}]*)}");
        private static final Pattern COLOR = Pattern.compile("--([a-z0-9-]+): (#[0-9a-f]{6})");
        private static final List<float[]> RUN_DASHES = List.of(
                new float[] {},
                new float[] {7, 3},
                new float[] {},
                new float[] {7, 3},
                new float[] {2, 2},
                new float[] {10, 3, 2, 3});

        private final Map<String, Color> colors = new HashMap<>();

        /** @param css of the page */
        Sheet(String css) {
            Matcher light = LIGHT.matcher(css);
            Matcher color = COLOR.matcher(light.find() ? light.group(1) : "");
            while (color.find()) {
                colors.put(color.group(1), Color.decode(color.group(2)));
            }
        }

        /** A colour by its name in the sheet. */
        Color color(String name) {
            return Objects.requireNonNull(colors.get(name), name);
        }

        /** What shapes and keys of a style look like. */
        Look look(String style) {
            String kind = style.substring(style.lastIndexOf(' ') + 1);
            return switch (kind) {
                case "grid" -> line(color("line"), 1);
                case "faint" -> line(color("faint"), 1);
                case "base" -> line(color("soft"), 1);
                case "median" -> line(color("band"), 1.2);
                case "demand" -> line(color("text"), 1.3);
                case "capacity" -> line(color("serving"), 1.5, 5, 3);
                case "band" -> area(withAlpha(color("band"), 0.35));
                case "lends" -> area(color("lent"));
                case "reclaims" -> area(color("training"));
                default ->
                    style.startsWith("curve ") || style.startsWith("stroke ")
                            ? line(color(kind), 2.2, RUN_DASHES.get(kind.charAt(kind.length() - 1) - '1'))
                            : area(color(kind));
            };
        }

        private static Color withAlpha(Color color, double alpha) {
            return new Color(color.getRed(), color.getGreen(), color.getBlue(), (int) (255 * alpha));
        }
    }
}
