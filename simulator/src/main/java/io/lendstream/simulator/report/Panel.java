package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Mark.Align;
import io.lendstream.simulator.report.Mark.Place;
import java.util.ArrayList;
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
    List<Mark> yAxis(String title) {
        List<Mark> marks = new ArrayList<>();
        for (Scale.Tick tick : y.ticks()) {
            double at = yOf(tick.value());
            marks.add(new Mark.Line("grid", new Place(left, at), new Place(right, at)));
            marks.add(new Mark.Label("tick", Align.END, new Place(left - 6, at + 4), tick.label()));
        }
        marks.add(new Mark.Label("axis", Align.START, new Place(Math.max(2, left - 48), top - 10), title));
        return marks;
    }

    /** Labels of the horizontal axis, with its title below. */
    List<Mark> xAxis(String title) {
        List<Mark> marks = new ArrayList<>(xGrid());
        for (Scale.Tick tick : x.ticks()) {
            marks.add(new Mark.Label("tick", Align.MIDDLE, new Place(xOf(tick.value()), bottom + 17), tick.label()));
        }
        marks.add(new Mark.Label("axis", Align.MIDDLE, new Place((left + right) / 2, bottom + 36), title));
        return marks;
    }

    /** Marks of the horizontal axis without labels. */
    List<Mark> xGrid() {
        List<Mark> marks = new ArrayList<>();
        for (Scale.Tick tick : x.ticks()) {
            double at = xOf(tick.value());
            marks.add(new Mark.Line("grid faint", new Place(at, top), new Place(at, bottom)));
        }
        marks.add(new Mark.Line("base", new Place(left, bottom), new Place(right, bottom)));
        return marks;
    }

    /** A line through points in a style of the page's sheet. */
    List<Mark> line(List<At> points, String style) {
        return path(points.stream().map(this::placeOf).toList(), style, false);
    }

    /** A line that keeps each point's value until the next one, and the last one's until {@code end}. */
    List<Mark> steps(List<At> points, double end, String style) {
        return path(stepped(points, end), style, false);
    }

    /** The area between two step lines that share their x values. */
    List<Mark> area(List<At> lower, List<At> upper, double end, String style) {
        List<Place> places = new ArrayList<>(stepped(upper, end));
        List<Place> back = stepped(lower, end);
        for (int i = back.size() - 1; i >= 0; i--) {
            places.add(back.get(i));
        }
        return path(places, style, true);
    }

    /** A bar from one value to another. */
    Mark bar(double fromX, double toX, double fromY, double toY, String style) {
        double high = Math.min(yOf(fromY), yOf(toY));
        double low = Math.max(yOf(fromY), yOf(toY));
        double width = Math.max(0.8, xOf(toX) - xOf(fromX) - 0.6);
        return new Mark.Box(style, new Place(xOf(fromX), high), width, low - high);
    }

    /** An invisible strip over the whole height that tells more when pointed at. */
    Mark hint(double fromX, double toX, String text) {
        double width = Math.max(1, xOf(toX) - xOf(fromX));
        return new Mark.Hint(new Mark.Box("hint", new Place(xOf(fromX), top), width, bottom - top), text);
    }

    private static List<Mark> path(List<Place> places, String style, boolean closed) {
        return places.isEmpty() ? List.of() : List.of(new Mark.Path(style, places, closed));
    }

    private Place placeOf(At point) {
        return new Place(xOf(point.x()), yOf(point.y()));
    }

    private List<Place> stepped(List<At> points, double end) {
        List<Place> places = new ArrayList<>();
        double level = Double.NaN;
        for (At point : points) {
            Place place = placeOf(point);
            if (places.isEmpty()) {
                places.add(place);
            } else if (place.y() != level) {
                places.add(new Place(place.x(), level));
                places.add(place);
            }
            level = place.y();
        }
        if (!places.isEmpty()) {
            places.add(new Place(xOf(end), level));
        }
        return places;
    }
}
