package io.lendstream.simulator.report;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.imageio.ImageIO;

/**
 * The report's plots as PNG files, in the colours of the page.
 *
 * <p>A Java without fonts cannot paint them. It finds out beside whatever else is done until there is something to
 * paint: that takes some tenths of a second, as the first picture does.
 */
public final class PngPlots {
    private final CompletableFuture<Optional<String>> obstacle;

    /** Gets ready to paint. */
    public PngPlots() {
        this(PngPlots::paintSomething);
    }

    /** @param trial paints something, or throws what keeps it from it */
    PngPlots(Callable<?> trial) {
        System.setProperty("java.awt.headless", "true");
        obstacle = CompletableFuture.supplyAsync(() -> obstacle(trial));
    }

    /**
     * Writes a file for each kind of plot of which anything is known.
     *
     * @return why there are none, where this Java cannot paint: a line to say
     */
    public Optional<String> write(RunFacts facts, Path directory) {
        return write(plots(facts), directory);
    }

    /** The same for figures by the name of their file. */
    Optional<String> write(Map<String, List<Drawing>> plots, Path directory) {
        Optional<String> reason = obstacle.join();
        if (reason.isEmpty()) {
            Look.Sheet sheet = new Look.Sheet(HtmlReport.styleSheet());
            plots.forEach((name, figures) -> write(Canvas.paint(figures, sheet), directory.resolve(name + ".png")));
        }
        return reason.map(
                "there are no PNG plots: this Java cannot draw text (%s); install fontconfig and a font, or see report.html"
                        ::formatted);
    }

    private static Map<String, List<Drawing>> plots(RunFacts facts) {
        Map<String, List<Drawing>> plots = new LinkedHashMap<>();
        plots.put("gpus-by-owner", Plots.owners(facts));
        plots.put("completion-times", Plots.training(facts));
        plots.put("inference", Plots.inference(facts));
        facts.subject().ifPresent(run -> {
            plots.put("demand-and-supply", Plots.services(run));
            plots.put("loans", Plots.loans(run));
        });
        plots.values()
                .removeIf(figures ->
                        figures.stream().allMatch(figure -> figure.marks().isEmpty()));
        return plots;
    }

    private static void write(BufferedImage image, Path file) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            encode(image, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(file), e);
        }
        ReportFile.write(file, bytes.toByteArray());
    }

    private static void encode(BufferedImage image, OutputStream out) throws IOException {
        ImageIO.setUseCache(false);
        ImageIO.write(image, "png", out);
    }

    private static BufferedImage paintSomething() throws IOException {
        Mark.Label text = new Mark.Label("tick", Mark.Align.END, new Mark.Place(9, 9), "text");
        Drawing figure = new Drawing("text", "text", List.of(), Drawing.NARROW, 10, "text", List.of(text));
        BufferedImage image = Canvas.paint(List.of(figure), new Look.Sheet(HtmlReport.styleSheet()));
        encode(image, OutputStream.nullOutputStream());
        return image;
    }

    private static Optional<String> obstacle(Callable<?> trial) {
        try {
            trial.call();
            return Optional.empty();
        } catch (Exception | Error e) {
            // Without libfontconfig, libfreetype, any font or java.desktop, JDKs throw one or the other of all kinds.
            return Optional.of(e.getClass().getSimpleName());
        }
    }
}
