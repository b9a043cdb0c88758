package io.lendstream.benchmarks;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.simulator.forecasting.Evaluation;
import io.lendstream.simulator.forecasting.RateSeries;
import io.lendstream.simulator.forecasting.Score;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The accuracy and the cost of the forecast model on public series. Accuracy is compared with figures of {@code
 * select} from an earlier program (forecast-reference.csv); cost is processor time and state. Held to the bounds of
 * docs/forecasting.md.
 */
final class ForecastStudy implements Bench {
    private static final String OURS = "lendstream";
    private static final String THEIRS = "select";
    private static final int RESAMPLES = 400;

    /** Bounds of MAE and of pinball loss at 0.99, relative to select, as geometric means. */
    private static final double MOST_MAE = 0.97;

    private static final double MOST_PINBALL = 0.90;
    /**
     * The allowed difference of coverage from the quantile; larger for single series, as far as chance explains it.
     */
    private static final double COVERAGE_BOUND = 0.005;

    private static final double MOST_MICROS = 20;
    private static final int MOST_BYTES = 8192;

    private final Path data;
    private final Map<String, Double> metrics = new TreeMap<>();
    private final Map<String, Double> reference = new TreeMap<>();
    private final Map<String, Double> ratio = new TreeMap<>();
    private final List<String> misses = new ArrayList<>();

    ForecastStudy() {
        data = PublicData.with("forecast", "traces/series").resolve("traces/series");
    }

    /** A series of the reference, with the part that is used. */
    private record Source(String series, int stepSeconds, int trainDays, OptionalDouble untilDays) {
        private String key() {
            return series + " " + stepSeconds / 60 + "m";
        }
    }

    /** A line of the reference. */
    private record Line(
            Source source, int horizonMinutes, double nmae, OptionalDouble pinball99, OptionalDouble p99OverMean) {
        private static Line of(String text) {
            String[] parts = text.split(",", -1);
            var source = new Source(parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), number(parts[3]));
            return new Line(
                    source,
                    Integer.parseInt(parts[4]),
                    Double.parseDouble(parts[5]) / 100,
                    number(parts[6]).isPresent()
                            ? OptionalDouble.of(number(parts[6]).getAsDouble() / 100)
                            : OptionalDouble.empty(),
                    number(parts[7]));
        }

        private static OptionalDouble number(String text) {
            return text.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(text));
        }
    }

    /** Ratios for a geometric mean. */
    private static final class Ratios {
        private double logs;
        private int count;
        private double worst;

        void add(double value) {
            logs += Math.log(value);
            count++;
            worst = Math.max(worst, value);
        }

        double mean() {
            return Math.exp(logs / count);
        }
    }

    /** Our model and our select relative to the printed select, over all series. */
    private static final class Comparison {
        private final Ratios mae = new Ratios();
        private final Ratios selectMae = new Ratios();
        private final Ratios ownSelect = new Ratios();
        private final Ratios pinball = new Ratios();
        private final Ratios cost = new Ratios();
        private final PooledCoverage pooled = new PooledCoverage();
        private final PooledCoverage pooledSelect = new PooledCoverage();

        void add(Line line, Score our, Score their) {
            mae.add(our.errors().nmae() / line.nmae());
            selectMae.add(their.errors().nmae() / line.nmae());
            ownSelect.add(our.errors().nmae() / their.errors().nmae());
            line.pinball99().ifPresent(printed -> pinball.add(our.errors().pinball99() / printed));
            line.p99OverMean().ifPresent(printed -> cost.add(our.p99OverMean() / printed));
            pooled.add(our);
            pooledSelect.add(their);
        }

        void print() {
            System.out.printf(
                    "geometric means: MAE %.4f (worst %.3f), pinball99 %.4f (worst %.3f), mean p99 %.4f; our select's MAE %.4f of the printed, ours %.4f of our select's%n",
                    mae.mean(),
                    mae.worst,
                    pinball.mean(),
                    pinball.worst,
                    cost.mean(),
                    selectMae.mean(),
                    ownSelect.mean());
            System.out.printf("pooled: %s%nselect: %s%n", pooled, pooledSelect);
        }
    }

    @Override
    public BenchReport measure() {
        Map<String, List<Line>> byKey = new LinkedHashMap<>();
        for (Line line : lines()) {
            byKey.computeIfAbsent(line.source().key(), any -> new ArrayList<>()).add(line);
        }
        againstPrinted(byKey);
        sideBySide(byKey);
        coldStart(byKey);
        time();
        System.out.printf("bounds missed: %d%n", misses.size());
        misses.forEach(miss -> System.out.println("  " + miss));
        return new BenchReport(metrics, reference, ratio, misses);
    }

    /** Compares our model and our select with the printed figures. */
    private void againstPrinted(Map<String, List<Line>> byKey) {
        var all = new Comparison();
        System.out.println(
                "series and step, minutes ahead | MAE, pinball loss at 0.99 and mean p99 of lendstream over those of select as printed | MAE of our select over the printed | share under p90 and p99 (twice their standard deviations), under p99 on steep rises");
        byKey.forEach((key, lines) -> {
            RateSeries series = read(lines.get(0).source());
            List<Covered> covered = new ArrayList<>();
            List<Score> ours = evaluate(series, lines, OURS, covered);
            List<Score> theirs = evaluate(series, lines, THEIRS, new ArrayList<>());
            for (int i = 0; i < lines.size(); i++) {
                all.add(lines.get(i), ours.get(i), theirs.get(i));
                print(lines.get(i), ours.get(i), theirs.get(i), covered.get(i));
            }
        });
        put("MAE over select's", all.mae);
        put("pinball99 over select's", all.pinball);
        put("mean p99 over select's", all.cost);
        put("MAE over our select's", all.ownSelect);
        put("our select's MAE over select's", all.selectMae);
        all.pooled.put(OURS, metrics);
        all.pooledSelect.put(THEIRS, metrics);
        all.print();
        bound("MAE over select's, geometric mean", all.mae.mean(), MOST_MAE);
        bound("pinball loss at 0.99 over select's, geometric mean", all.pinball.mean(), MOST_PINBALL);
        keeps("all series: p90", 0.9, all.pooled.under90(), COVERAGE_BOUND);
        keeps("all series: p99", 0.99, all.pooled.under99(), COVERAGE_BOUND);
    }

    /** Prints one line and notes the bounds of coverage that it misses. */
    private void print(Line line, Score our, Score their, Covered covered) {
        String key = line.source().key();
        String at = "%s, %d min ahead".formatted(key, line.horizonMinutes());
        boolean keeps90 = keeps(at + ": p90", 0.9, our.covered().p90(), covered.p90());
        boolean keeps99 = keeps(at + ": p99", 0.99, our.covered().p99(), covered.p99());
        System.out.printf(
                "%-36s %2d | %.3f %s %s | %.3f | %.3f (%.3f) %.4f (%.4f) %.3f%s%s%n",
                key,
                line.horizonMinutes(),
                our.errors().nmae() / line.nmae(),
                text(line.pinball99(), our.errors().pinball99()),
                text(line.p99OverMean(), our.p99OverMean()),
                their.errors().nmae() / line.nmae(),
                our.covered().p90(),
                2 * covered.p90().deviation(),
                our.covered().p99(),
                2 * covered.p99().deviation(),
                our.covered().p99OnRises(),
                keeps90 ? "" : " MISSES p90",
                keeps99 ? "" : " MISSES p99");
    }

    /** All models, tuned on the training parts, compared with our select on the same forecasts. */
    private void sideBySide(Map<String, List<Line>> byKey) {
        Map<String, List<Score>> select = new LinkedHashMap<>();
        byKey.forEach((key, lines) -> select.put(key, scores(lines, THEIRS)));
        System.out.println("model | MAE and pinball loss at 0.99 over our select's (worst of each) | shares");
        for (Models.Info model : Models.all()) {
            Ratios mae = new Ratios();
            Ratios pinball = new Ratios();
            PooledCoverage pooled = new PooledCoverage();
            byKey.forEach((key, lines) -> {
                List<Score> scores = scores(lines, model.name());
                for (int i = 0; i < scores.size(); i++) {
                    Score score = scores.get(i);
                    Score their = Objects.requireNonNull(select.get(key)).get(i);
                    mae.add(score.errors().nmae() / their.errors().nmae());
                    pinball.add(score.errors().pinball99() / their.errors().pinball99());
                    pooled.add(score);
                }
            });
            System.out.printf(
                    "%-14s | %.3f (%.3f) %.3f (%.3f) | %s%n",
                    model.name(), mae.mean(), mae.worst, pinball.mean(), pinball.worst, pooled);
        }
    }

    private List<Score> scores(List<Line> lines, String model) {
        return evaluate(read(lines.get(0).source()), lines, model, new ArrayList<>());
    }

    private void coldStart(Map<String, List<Line>> byKey) {
        Ratios second = new Ratios();
        Ratios fourth = new Ratios();
        System.out.println("MAE over a moving average's on the second day | on the fourth");
        byKey.forEach((key, lines) -> {
            RateSeries series = read(lines.get(0).source());
            List<Duration> horizons = horizons(lines);
            double afterOne = ColdStart.overMovingAverage(series, horizons, 1);
            double afterThree = ColdStart.overMovingAverage(series, horizons, 3);
            second.add(afterOne);
            fourth.add(afterThree);
            System.out.printf("%-36s | %.3f | %.3f%n", key, afterOne, afterThree);
        });
        System.out.printf("geometric means: %.3f | %.3f%n", second.mean(), fourth.mean());
        put("MAE over a moving average's on the second day", second);
        put("MAE over a moving average's on the fourth day", fourth);
    }

    private void put(String name, Ratios ratios) {
        ratio.put(name, ratios.mean());
        ratio.put(name + ", worst", ratios.worst);
    }

    private static String text(OptionalDouble printed, double value) {
        return printed.isPresent() ? "%.3f".formatted(value / printed.getAsDouble()) : "    -";
    }

    private void bound(String what, double value, double most) {
        if (!(value <= most)) {
            misses.add("%s is %.4f, but must be at most %.2f".formatted(what, value, most));
        }
    }

    private boolean keeps(String what, double promised, double share, Coverage coverage) {
        return keeps(what, promised, share, Math.max(COVERAGE_BOUND, 2 * coverage.deviation()));
    }

    private boolean keeps(String what, double promised, double share, double bound) {
        boolean kept = Math.abs(share - promised) <= bound;
        if (!kept) {
            misses.add("%s covers %.4f, but must cover from %.4f to %.4f"
                    .formatted(what, share, promised - bound, promised + bound));
        }
        return kept;
    }

    private List<Score> evaluate(RateSeries series, List<Line> lines, String model, List<Covered> covered) {
        List<Duration> horizons = horizons(lines);
        int perDay = (int) (Duration.ofDays(1).toMillis() / series.step().toMillis());
        horizons.forEach(horizon -> covered.add(new Covered(new Coverage(perDay), new Coverage(perDay))));
        return new Evaluation(series, horizons, lines.get(0).source().trainDays() * perDay)
                .run(
                        model,
                        (origin, target, said) -> {
                            double actual = series.value(target);
                            if (!Double.isNaN(actual) && !Double.isNaN(series.value(origin))) {
                                Covered at = covered.get(horizons.indexOf(said.horizon()));
                                at.p90().add(actual <= said.p90());
                                at.p99().add(actual <= said.p99());
                            }
                        },
                        share -> {});
    }

    private static List<Duration> horizons(List<Line> lines) {
        return lines.stream()
                .map(line -> Duration.ofMinutes(line.horizonMinutes()))
                .toList();
    }

    private RateSeries read(Source source) {
        RateSeries series =
                RateSeries.read(data.resolve(source.series() + ".csv.gz"), Duration.ofSeconds(source.stepSeconds()));
        return source.untilDays().isPresent()
                ? series.first((int) (source.untilDays().getAsDouble() * 86_400 / source.stepSeconds()))
                : series;
    }

    private static List<Line> lines() {
        return PublicData.reference("forecast-reference.csv").map(Line::of).toList();
    }

    /** Coverage of two quantiles of one horizon. */
    private record Covered(Coverage p90, Coverage p99) {}

    /** Coverage of a quantile by day, as days differ most. */
    private static final class Coverage {
        private final int perDay;
        private final List<int[]> days = new ArrayList<>();

        Coverage(int perDay) {
            this.perDay = perDay;
        }

        void add(boolean under) {
            if (days.isEmpty() || days.get(days.size() - 1)[1] == perDay) {
                days.add(new int[2]);
            }
            int[] day = days.get(days.size() - 1);
            day[0] += under ? 1 : 0;
            day[1]++;
        }

        /** Standard deviation of the share, by bootstrap over days. */
        double deviation() {
            SplittableRandom random = new SplittableRandom(1);
            double sum = 0;
            double squares = 0;
            for (int resample = 0; resample < RESAMPLES; resample++) {
                double under = 0;
                double all = 0;
                for (int i = 0; i < days.size(); i++) {
                    int[] day = days.get(random.nextInt(days.size()));
                    under += day[0];
                    all += day[1];
                }
                sum += under / all;
                squares += under / all * (under / all);
            }
            double mean = sum / RESAMPLES;
            return Math.sqrt(Math.max(0, squares / RESAMPLES - mean * mean));
        }
    }

    /** The cost of one update with its forecasts, and the size of the state, with the settings of the job. */
    private void time() {
        double micros = ForecastTime.micros();
        int bytes = ForecastTime.stateBytes();
        System.out.printf(
                "%.2f us for an update with forecasts at %d horizons (bound 20), %d bytes of state (bound 8192)%n",
                micros, ForecastSettings.DEFAULT.horizons().size(), bytes);
        metrics.put("update and forecast us", micros);
        metrics.put("state bytes", (double) bytes);
        reference.put("update and forecast us", MOST_MICROS);
        reference.put("state bytes", (double) MOST_BYTES);
        bound("microseconds of an update with forecasts", micros, MOST_MICROS);
        bound("bytes of state", bytes, MOST_BYTES);
    }
}
