package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PngPlotsTest {
    @TempDir
    Path folder;

    @Test
    void paintsTheReportsPlotsInThePagesColours() throws IOException {
        Optional<String> obstacle = new PngPlots().write(Specimen.day(), folder);

        assumeTrue(obstacle.isEmpty(), () -> obstacle.orElse(""));
        assertThat(colours("gpus-by-owner")).contains(0x0072b2, 0xe69f00, 0x009e73);
        assertThat(colours("completion-times")).contains(0xd98a00, 0x0072b2);
        assertThat(colours("inference")).contains(0xd98a00, 0x0072b2);
        assertThat(colours("demand-and-supply")).contains(0x009e73);
        assertThat(colours("loans")).contains(0xe69f00, 0x0072b2);
    }

    @Test
    void everyPlotIsDeletedBeforeTheResultsOfALaterRun() throws IOException {
        Optional<String> obstacle = new PngPlots().write(Specimen.day(), folder);

        assumeTrue(obstacle.isEmpty(), () -> obstacle.orElse(""));
        assertThat(folder).isNotEmptyDirectory();
        ReportFile.deleteOld(folder);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void withoutFontsThereIsOneLineAndNoPicture() {
        PngPlots painter = new PngPlots(() -> {
            throw new Error("Probable fatal error: No physical fonts found.");
        });

        assertThat(painter.write(new RunFacts("t", List.of(), List.of()), folder))
                .hasValueSatisfying(line ->
                        assertThat(line).startsWith("there are no PNG plots").hasLineCount(1));
        assertThat(folder).isEmptyDirectory();
    }

    private Set<Integer> colours(String plot) throws IOException {
        BufferedImage image = ImageIO.read(Files.newInputStream(folder.resolve(plot + ".png")));
        BitSet seen = new BitSet(1 << 24);
        for (int pixel : image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth())) {
            seen.set(pixel & 0xffffff);
        }
        return seen.stream().boxed().collect(Collectors.toSet());
    }
}
