package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Mark.Place;
import java.awt.Font;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.util.ArrayList;
import java.util.List;

/**
 * Paints figures with their captions and legends into an image: wide ones below each other, narrow ones in two columns.
 */
final class Canvas {
    /** Pixels per unit of a drawing. */
    private static final double SCALE = 1.5;

    private static final int MARGIN = 20;
    private static final int WIDTH = Drawing.WIDE + 2 * MARGIN;
    private static final int LINE = 20;
    private static final int KEY_GAP = 18;
    private static final int BASELINE = 14;
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    private static final Font TITLE = TEXT.deriveFont(Font.BOLD, 14f);

    private final Graphics2D graphics;
    private final Look.Sheet sheet;

    private Canvas(Graphics2D graphics, Look.Sheet sheet) {
        this.graphics = graphics;
        this.sheet = sheet;
    }

    /** An image of the figures. */
    static BufferedImage paint(List<Drawing> figures, Look.Sheet sheet) {
        BufferedImage nothing = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB);
        Graphics2D ruler = nothing.createGraphics();
        int height = new Canvas(ruler, sheet).arrange(figures, false);
        ruler.dispose();
        BufferedImage image =
                new BufferedImage((int) (WIDTH * SCALE), (int) Math.ceil(height * SCALE), BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.scale(SCALE, SCALE);
        graphics.setColor(sheet.color("card"));
        graphics.fill(new Rectangle2D.Double(0, 0, WIDTH, height));
        new Canvas(graphics, sheet).arrange(figures, true);
        graphics.dispose();
        return image;
    }

    /**
     * Puts figures where they belong.
     *
     * @param draws whether they are drawn, too
     * @return the height that they take
     */
    private int arrange(List<Drawing> figures, boolean draws) {
        int y = MARGIN;
        int rowHeight = 0;
        boolean beside = false;
        for (Drawing figure : figures) {
            boolean narrow = figure.width() == Drawing.NARROW;
            boolean right = narrow && beside;
            if (!right) {
                y += rowHeight;
                rowHeight = 0;
            }
            double x = MARGIN + (right ? Drawing.WIDE - Drawing.NARROW : 0);
            rowHeight = Math.max(rowHeight, figure(figure, x, y, draws));
            beside = narrow && !right;
        }
        return y + rowHeight;
    }

    /** A figure and the space below it; returns their height. */
    private int figure(Drawing figure, double x, double y, boolean draws) {
        List<List<Swatch>> legend = rows(figure.legend(), figure.width());
        int head = LINE * (2 + legend.size()) + 4;
        if (draws) {
            graphics.setColor(sheet.color("text"));
            text(figure.title(), TITLE, x, y + BASELINE);
            graphics.setColor(sheet.color("soft"));
            text(figure.note(), TEXT, x, y + LINE + BASELINE);
            for (int row = 0; row < legend.size(); row++) {
                legend(legend.get(row), x, y + LINE * (2 + row));
            }
            graphics.translate(x, y + head);
            figure.marks().forEach(this::paint);
            graphics.translate(-x, -(y + head));
        }
        return head + figure.height() + LINE;
    }

    private List<List<Swatch>> rows(List<Swatch> legend, int width) {
        List<List<Swatch>> rows = new ArrayList<>();
        double used = width;
        for (Swatch key : legend) {
            double needed = keyWidth(key);
            if (used + needed > width) {
                rows.add(new ArrayList<>());
                used = 0;
            }
            rows.get(rows.size() - 1).add(key);
            used += needed;
        }
        return rows;
    }

    private double keyWidth(Swatch key) {
        return 24 + 6 + graphics.getFontMetrics(TEXT).stringWidth(key.label()) + KEY_GAP;
    }

    private void legend(List<Swatch> keys, double left, double y) {
        double x = left;
        for (Swatch key : keys) {
            Look look = sheet.look(key.style());
            double middle = y + BASELINE - 4;
            if (look.fill().isPresent()) {
                graphics.setColor(look.fill().get());
                graphics.fill(new Rectangle2D.Double(x + 8, middle - 6, 14, 12));
            } else {
                stroke(look, new Line2D.Double(x, middle, x + 24, middle));
            }
            graphics.setColor(sheet.color("text"));
            text(key.label(), TEXT, x + 30, y + BASELINE);
            x += keyWidth(key);
        }
    }

    private void paint(Mark mark) {
        if (mark instanceof Mark.Line line) {
            Place from = line.from();
            Place to = line.to();
            stroke(sheet.look(line.style()), new Line2D.Double(from.x(), from.y(), to.x(), to.y()));
        } else if (mark instanceof Mark.Label label) {
            FontMetrics metrics = graphics.getFontMetrics(TEXT);
            double width = metrics.stringWidth(label.text());
            double shift = switch (label.align()) {
                case START -> 0;
                case MIDDLE -> width / 2;
                case END -> width;
            };
            graphics.setColor(sheet.color("soft"));
            text(label.text(), TEXT, label.at().x() - shift, label.at().y());
        } else if (mark instanceof Mark.Path path) {
            shape(sheet.look(path.style()), outline(path));
        } else if (mark instanceof Mark.Box box) {
            shape(
                    sheet.look(box.style()),
                    new Rectangle2D.Double(box.corner().x(), box.corner().y(), box.width(), box.height()));
        }
    }

    private static Path2D outline(Mark.Path path) {
        Path2D outline = new Path2D.Double();
        for (Place place : path.places()) {
            if (outline.getCurrentPoint() == null) {
                outline.moveTo(place.x(), place.y());
            } else {
                outline.lineTo(place.x(), place.y());
            }
        }
        if (path.closed()) {
            outline.closePath();
        }
        return outline;
    }

    private void shape(Look look, java.awt.Shape shape) {
        look.fill().ifPresent(color -> {
            graphics.setColor(color);
            graphics.fill(shape);
        });
        stroke(look, shape);
    }

    private void stroke(Look look, java.awt.Shape shape) {
        look.stroke().ifPresent(color -> {
            graphics.setColor(color);
            graphics.setStroke(look.pen());
            graphics.draw(shape);
        });
    }

    private void text(String text, Font font, double x, double y) {
        graphics.setFont(font);
        graphics.drawString(text, (float) x, (float) y);
    }
}
