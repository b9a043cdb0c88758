package io.lendstream.launcher;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.CommandOutput;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Units;
import io.lendstream.simulator.forecasting.Evaluation;
import io.lendstream.simulator.forecasting.RateSeries;
import io.lendstream.simulator.forecasting.Score;
import io.lendstream.simulator.report.ForecastReport;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.results.ForecastFiles;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Evaluates forecast models on recorded series. */
@Command(
        name = "forecast",
        description = {
            "Evaluate forecast models on series with a rolling origin: after every step each model says what it expects at every "
                    + "horizon, without any knowledge of later values.",
            "Settings that are not named are tuned on the training part alone; forecasts made after it are scored."
        },
        customSynopsis = {
            "lendstream forecast --series F[,F...] --train-days N --out DIR [OPTIONS]",
            "lendstream forecast --series F[,F...] --train-until T --out DIR [OPTIONS]"
        },
        footer = {
            "Example: lendstream forecast --series rates.csv.gz --step 5m \\",
            "             --horizon 15m,30m --model select,lendstream \\",
            "             --train-days 14 --out out/forecast",
            "rates.csv.gz: epoch_s,value (empty: missing), gzip or not"
        })
final class ForecastCommand implements Callable<Integer> {
    private static final Duration SHOWN = Duration.ofDays(3);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Mixin
    private Question question = new Question();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            required = true,
            description = "Where summary.json, forecasts.csv, report.html and plots are written.")
    private Path out = Path.of("");

    private final CommandOutput output =
            new CommandOutput(() -> spec.commandLine().getOut());

    /** The series, and the models to evaluate on them. */
    static final class Question {
        @Option(
                names = "--series",
                paramLabel = "F",
                split = ",",
                required = true,
                description = "Files of epoch_s,value, gzip or not; an empty value is missing.")
        private List<Path> files = List.of();

        @Option(
                names = "--step",
                paramLabel = "T",
                defaultValue = "5m",
                description = "Length of a step; a series' values in one are averaged. Default: ${DEFAULT-VALUE}.")
        private String step = "";

        @Option(
                names = "--horizon",
                paramLabel = "T",
                split = ",",
                defaultValue = "15m,30m",
                description = "How far ahead, in whole steps. Default: ${DEFAULT-VALUE}.")
        private List<String> horizons = List.of();

        @Option(
                names = "--model",
                paramLabel = "M",
                split = ",",
                defaultValue = "lendstream",
                description = {
                    "Models, with settings as name:key=value; 'lendstream models' lists them.",
                    "Default: ${DEFAULT-VALUE}."
                })
        private List<String> models = List.of();

        @Option(
                names = "--train-until",
                paramLabel = "T",
                description = "End of the training part: seconds since 1970, or such as 2026-07-15T00:00:00Z.")
        private Optional<String> trainUntil = Optional.empty();

        @Option(
                names = "--train-days",
                paramLabel = "N",
                description = "Length of the training part in days from a series' beginning; fractions are allowed.")
        private Optional<Double> trainDays = Optional.empty();

        @Option(
                names = "--replica-capacity",
                paramLabel = "R",
                description = {
                    "What one replica, on one GPU, answers within the SLO, in the unit of the series.",
                    "With it, forecasts are given and scored in GPUs, too."
                })
        private Optional<Double> replicaCapacity = Optional.empty();

        @Option(
                names = "--floor",
                paramLabel = "N",
                description = "Replicas that are kept whatever the demand; with --replica-capacity. Default: 0.")
        private Optional<Integer> floor = Optional.empty();

        private Optional<ReplicaCapacity> capacity() {
            if (replicaCapacity.isEmpty()) {
                floor.ifPresent(replicas -> {
                    throw UserError.badUsage(
                            "--floor is %d, but without --replica-capacity there are no forecasts in GPUs; give both, or neither."
                                    .formatted(replicas));
                });
                return Optional.empty();
            }
            double capacity = replicaCapacity.get();
            if (!(capacity > 0) || Double.isInfinite(capacity)) {
                throw UserError.badUsage(
                        "--replica-capacity is %s, but must be a number above 0, in the unit of the series."
                                .formatted(capacity));
            }
            if (floor.orElse(0) < 0) {
                throw UserError.badUsage("--floor is %d, but must be at least 0.".formatted(floor.get()));
            }
            return Optional.of(new ReplicaCapacity(capacity, floor.orElse(0)));
        }

        private Duration step() {
            return duration("--step", step);
        }

        private static Duration duration(String option, String text) {
            return Units.duration(text)
                    .filter(length -> !length.isZero())
                    .orElseThrow(() ->
                            UserError.badUsage("%s is '%s', but must be a length of time above zero, such as 5m or 1h."
                                    .formatted(option, text)));
        }

        /** By length, as they were written. */
        private Map<Duration, String> horizons() {
            Map<Duration, String> lengths = new LinkedHashMap<>();
            horizons.forEach(text -> lengths.put(duration("--horizon", text), text));
            return lengths;
        }

        /** Settings of a model, or what is wrong with them. */
        private ForecastSettings settings(String model) {
            try {
                List<Duration> sorted = horizons().keySet().stream().sorted().toList();
                ForecastSettings settings = new ForecastSettings(model, step(), sorted);
                Models.create(settings);
                return settings;
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(e.getMessage() + ".");
            }
        }

        private int trainingSteps(RateSeries series) {
            double seconds = trainUntil
                    .map(text -> second(text) - series.startSecond(0))
                    .orElseGet(() -> 86_400 * trainDays.orElseThrow());
            double steps = Math.floor(seconds / (series.step().toMillis() / 1000.0));
            if (!(steps >= 1 && steps < series.length())) {
                throw UserError.badUsage(
                        "%s leaves %s steps of %s to train on, but must leave from 1 to %d: the series begins %s and ends %s."
                                .formatted(
                                        trainUntil
                                                .map(text -> "--train-until " + text)
                                                .orElseGet(() -> "--train-days " + trainDays.orElseThrow()),
                                        Double.toString(steps).replaceAll("\\.0$", ""),
                                        series.name(),
                                        series.length() - 1,
                                        instant(series.startSecond(0)),
                                        instant(series.startSecond(series.length()))));
            }
            return (int) steps;
        }

        private static Instant instant(double second) {
            return Instant.ofEpochMilli(Math.round(1000 * second));
        }

        private static double second(String text) {
            try {
                return text.contains("T") ? Instant.parse(text).toEpochMilli() / 1000.0 : Double.parseDouble(text);
            } catch (DateTimeException | NumberFormatException e) {
                throw UserError.badUsage(
                        "--train-until is '%s', but must be seconds since 1970, or such as 2026-07-15T00:00:00Z."
                                .formatted(text));
            }
        }

        private void check() {
            if (trainUntil.isPresent() == trainDays.isPresent()) {
                throw UserError.badUsage(
                        trainUntil.isPresent()
                                ? "--train-until and --train-days are both given, but one training part is enough; leave one out."
                                : "neither --train-until nor --train-days is given, but models are tuned on a training part; give one, such as --train-days 7.");
            }
            models.forEach(this::settings);
            capacity();
        }

        private List<RateSeries> read() {
            try {
                List<RateSeries> series = new ArrayList<>();
                for (Path file : files) {
                    series.add(RateSeries.read(file, step()));
                }
                return series;
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(e.getMessage() + ".");
            }
        }
    }

    @Override
    public Integer call() {
        question.check();
        List<RateSeries> all = question.read();
        all.forEach(question::trainingSteps);
        Bounds.checkOut(out);
        Map<Duration, String> names = question.horizons();
        List<Score> scores = new ArrayList<>();
        List<ForecastReport.Band> bands = new ArrayList<>();
        PngPlots plots = new PngPlots();
        try (ForecastFiles files =
                new ForecastFiles(out, length -> names.getOrDefault(length, Units.text(length)), question.capacity())) {
            for (RateSeries series : all) {
                for (String model : question.models) {
                    scores.addAll(evaluate(series, model, files, bands));
                }
            }
            files.summary(scores);
        }
        print(scores, names);
        ForecastReport.write(scores, bands, out, plots).ifPresent(this::say);
        say("results in " + out);
        return 0;
    }

    private List<Score> evaluate(
            RateSeries series, String model, ForecastFiles files, List<ForecastReport.Band> bands) {
        List<Duration> horizons = question.settings(model).horizons();
        int training = question.trainingSteps(series);
        Duration lead = horizons.get(horizons.size() - 1);
        List<ForecastReport.Point> points = new ArrayList<>();
        double shownFrom = series.startSecond(series.length()) - SHOWN.toSeconds();
        List<Score> scores = new Evaluation(series, horizons, training, question.capacity())
                .run(
                        model,
                        (origin, target, said) -> {
                            files.forecast(series, model, origin, target, said);
                            if (said.horizon().equals(lead) && series.startSecond(target) >= shownFrom) {
                                points.add(point(series, target, said));
                            }
                        },
                        share -> progress(series.name(), model, share));
        if (!points.isEmpty()) {
            bands.add(new ForecastReport.Band(series.name(), model, series.step(), lead, points));
        }
        return scores;
    }

    private static ForecastReport.Point point(RateSeries series, int target, HorizonQuantiles said) {
        return new ForecastReport.Point(
                Question.instant(series.startSecond(target)),
                series.value(target),
                said.p10(),
                said.p50(),
                said.p90(),
                said.p99());
    }

    private void progress(String series, String model, double share) {
        output.progress(series + ", " + model, share);
    }

    private void print(List<Score> scores, Map<Duration, String> names) {
        say("%-32s %8s %-16s %7s %7s %7s %9s %9s %7s %7s"
                .formatted(
                        "series", "horizon", "model", "n", "nMAE", "MASE", "pinball90", "pinball99", "<=p90", "<=p99"));
        for (Score score : scores) {
            say("%-32s %8s %-16s %7d %7.4f %7.3f %9.5f %9.5f %7.4f %7.4f"
                    .formatted(
                            score.series(),
                            names.get(score.horizon()),
                            score.model(),
                            score.scored(),
                            score.errors().nmae(),
                            score.errors().mase(),
                            score.errors().pinball90(),
                            score.errors().pinball99(),
                            score.covered().p90(),
                            score.covered().p99()));
        }
        if (question.capacity().isPresent()) {
            printGpus(scores, names);
        }
    }

    private void printGpus(List<Score> scores, Map<Duration, String> names) {
        say("");
        say("%-32s %8s %-16s %12s %12s %12s"
                .formatted("in GPUs: series", "horizon", "model", "mean for p99", "mean needed", "p99 enough"));
        for (Score score : scores) {
            score.gpus()
                    .ifPresent(gpus -> say("%-32s %8s %-16s %12.2f %12.2f %12.4f"
                            .formatted(
                                    score.series(),
                                    names.get(score.horizon()),
                                    score.model(),
                                    gpus.p99(),
                                    gpus.needed(),
                                    gpus.enough())));
        }
    }

    private void say(String line) {
        output.say(line);
    }
}
