package io.lendstream.simulator.forecasting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateSeriesTest {
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    @TempDir
    private Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("rates.csv"), "epoch_s,value\n" + text);
    }

    @Test
    void aStepsValueIsTheMeanOfThoseInIt() throws IOException {
        var series = RateSeries.read(file("600,10\n660,20\n720,\n960,7\n1500,1\n"), FIVE_MINUTES);

        assertThat(series.name()).isEqualTo("rates");
        assertThat(series.firstStep()).isEqualTo(2);
        assertThat(series.length()).isEqualTo(4);
        assertThat(series.value(0)).isEqualTo(15);
        assertThat(series.value(1)).isEqualTo(7);
        assertThat(series.value(2)).isNaN();
        assertThat(series.value(3)).isEqualTo(1);
        assertThat(series.startSecond(1)).isEqualTo(900);
    }

    @Test
    void readsGzipAndLinesInAnyOrder() throws IOException {
        Path zipped = directory.resolve("rates.csv.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(zipped))) {
            out.write("epoch_s,value\n300,2\n0,1\n".getBytes(StandardCharsets.UTF_8));
        }

        var series = RateSeries.read(zipped, FIVE_MINUTES);

        assertThat(series.name()).isEqualTo("rates");
        assertThat(series.value(0)).isEqualTo(1);
        assertThat(series.value(1)).isEqualTo(2);
    }

    @Test
    void saysWhatItCannotRead() throws IOException {
        Path coarse = file("0,1\n3600,2\n");
        assertThatThrownBy(() -> RateSeries.read(coarse, FIVE_MINUTES))
                .hasMessageContaining("has a value every 3600 s, but the step is 300 s; choose a step no shorter");
        Path negative = file("0,1\n300,-2\n");
        assertThatThrownBy(() -> RateSeries.read(negative, FIVE_MINUTES))
                .hasMessageContaining("line 3, column value: found '-2', expected a number of at least 0");
        Path nothing = file("");
        assertThatThrownBy(() -> RateSeries.read(nothing, FIVE_MINUTES)).hasMessageContaining("has no lines");
    }
}
