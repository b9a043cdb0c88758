package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A drawing with its caption and legend.
 *
 * @param width of the drawing, {@link #WIDE} or {@link #NARROW}
 * @param described the description for readers who cannot see it
 * @param marks the shapes; none if the note is enough
 */
record Drawing(
        String title, String note, List<Swatch> legend, int width, int height, String described, List<Mark> marks) {
    static final int WIDE = 1040;
    static final int NARROW = 510;

    Drawing {
        legend = List.copyOf(legend);
        marks = List.copyOf(marks);
    }

    /**
     * The meaning of a colour.
     *
     * @param style {@code box} or {@code stroke}, and the colour's
     */
    record Swatch(String style, String label, String meaning) {
        private String html() {
            return "<span class=\"key\" title=\"%s\"><i class=\"%s\"></i>%s</span>"
                    .formatted(escape(meaning), style, escape(label));
        }
    }

    /** The figure with its drawing in inline SVG. */
    String html() {
        String caption = "<figcaption><b>%s</b> %s</figcaption>".formatted(escape(title), escape(note));
        if (marks.isEmpty()) {
            return "<figure>%s</figure>\n".formatted(caption);
        }
        return """
                <figure>%s<div class="legend">%s</div>
                <div class="scroll"><svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">
                %s</svg></div></figure>
                """.formatted(
                        caption,
                        legend.stream().map(Swatch::html).collect(Collectors.joining()),
                        width == WIDE ? "wide" : "narrow",
                        width,
                        height,
                        escape(described),
                        marks.stream().map(Mark::svg).collect(Collectors.joining()));
    }
}
