package io.lendstream.simulator.results;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.simulator.forecasting.RateSeries;
import io.lendstream.simulator.forecasting.Score;
import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the results of an evaluation of forecasts: {@code forecasts.csv} as it goes, {@code summary.json} at its end,
 * when both get their names. Their fields are a contract with the tools that read them.
 */
public final class ForecastFiles implements Closeable {
    private static final ObjectMapper PAGES = Json.pages();

    private final WholeFiles files;
    private final Function<Duration, String> horizonNames;
    private final Optional<ReplicaCapacity> capacity;
    private final BufferedWriter forecasts;

    /**
     * Into a directory that is there.
     *
     * @param horizonNames how a horizon is written
     */
    public ForecastFiles(Path directory, Function<Duration, String> horizonNames) {
        this(directory, horizonNames, Optional.empty());
    }

    /** @param capacity of a replica, in the unit of the series; with it, lines end with GPUs */
    public ForecastFiles(Path directory, Function<Duration, String> horizonNames, Optional<ReplicaCapacity> capacity) {
        this.files = new WholeFiles(directory);
        this.horizonNames = horizonNames;
        this.capacity = capacity;
        try {
            forecasts = files.writer("forecasts.csv");
            forecasts.write("series,model,horizon,issued_epoch_s,target_epoch_s,p10,p50,p90,p99,actual"
                    + (capacity.isPresent() ? ",gpus10,gpus50,gpus90,gpus99,gpusActual\n" : "\n"));
        } catch (IOException e) {
            throw new UncheckedIOException("forecasts.csv cannot be written to %s".formatted(files.directory()), e);
        }
    }

    /** A line of {@code forecasts.csv}; a step is identified by its beginning. */
    public void forecast(RateSeries series, String model, int origin, int target, HorizonQuantiles said) {
        double actual = series.value(target);
        try {
            forecasts.write(String.join(
                    ",",
                    Csv.name(series.name()),
                    Csv.name(model),
                    Csv.name(horizonNames.apply(said.horizon())),
                    number(series.startSecond(origin)),
                    number(series.startSecond(target)),
                    number(said.p10()),
                    number(said.p50()),
                    number(said.p90()),
                    number(said.p99()),
                    number(actual)));
            if (capacity.isPresent() && said.gpus().isPresent()) {
                GpuQuantiles gpus = said.gpus().get();
                forecasts.write(",%d,%d,%d,%d,%s"
                        .formatted(
                                gpus.p10(),
                                gpus.p50(),
                                gpus.p90(),
                                gpus.p99(),
                                !Double.isFinite(actual) ? "" : capacity.get().gpusFor(actual)));
            }
            forecasts.write('\n');
        } catch (IOException e) {
            throw new UncheckedIOException("forecasts.csv cannot be written to %s".formatted(files.directory()), e);
        }
    }

    /** Writes {@code summary.json}; no forecast may follow. Without it, no file is left. */
    public void summary(List<Score> scores) {
        try {
            forecasts.close();
            PAGES.writeValue(
                    files.part("summary.json").toFile(),
                    scores.stream().map(this::fields).toList());
            files.publish();
        } catch (IOException e) {
            throw new UncheckedIOException("summary.json cannot be written to %s".formatted(files.directory()), e);
        }
    }

    private Map<String, @Nullable Object> fields(Score score) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("series", score.series());
        fields.put("step", horizonNames.apply(score.step()));
        fields.put("horizon", horizonNames.apply(score.horizon()));
        fields.put("model", score.model());
        fields.put("n", score.scored());
        fields.put("mae", Json.finite(score.errors().mae()));
        fields.put("nmae", Json.finite(score.errors().nmae()));
        fields.put("mase", Json.finite(score.errors().mase()));
        fields.put("pinball90", Json.finite(score.errors().pinball90()));
        fields.put("pinball99", Json.finite(score.errors().pinball99()));
        fields.put("coverage10", Json.finite(score.covered().p10()));
        fields.put("coverage90", Json.finite(score.covered().p90()));
        fields.put("coverage99", Json.finite(score.covered().p99()));
        fields.put("riseCoverage99", Json.finite(score.covered().p99OnRises()));
        fields.put("p99OverMean", Json.finite(score.p99OverMean()));
        score.gpus().ifPresent(gpus -> {
            fields.put("meanGpus99", Json.finite(gpus.p99()));
            fields.put("meanGpusNeeded", Json.finite(gpus.needed()));
            fields.put("gpus99Enough", Json.finite(gpus.enough()));
        });
        return fields;
    }

    private static String number(double value) {
        return Csv.number(Math.abs(value) < 1e6 ? Math.round(value * 1e6) / 1e6 : value);
    }

    @Override
    public void close() {
        try (files) {
            forecasts.close();
        } catch (IOException e) {
            throw new UncheckedIOException("forecasts.csv cannot be written to %s".formatted(files.directory()), e);
        }
    }
}
