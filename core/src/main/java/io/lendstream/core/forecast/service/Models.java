package io.lendstream.core.forecast.service;

import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.baseline.Calibrated;
import io.lendstream.core.forecast.baseline.Ewma;
import io.lendstream.core.forecast.baseline.HarmonicAr;
import io.lendstream.core.forecast.baseline.Median;
import io.lendstream.core.forecast.baseline.Persistence;
import io.lendstream.core.forecast.baseline.SeasonalNaive;
import io.lendstream.core.forecast.baseline.Select;
import io.lendstream.core.forecast.baseline.Tuning;
import io.lendstream.core.forecast.mixture.ExpertMixture;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The forecast models, by name. A new one is a class and a line here. */
public final class Models {
    private static final List<Model> ALL = List.of(
            model("persistence", "demand stays as it was last", (s, t) -> new Persistence()),
            new Model(
                    new Info("ewma", "an exponentially weighted mean on a log scale goes on", Map.of("alpha", 0.3)),
                    (s, given, t) -> new Calibrated(
                            s,
                            Optional.ofNullable(given.get("alpha"))
                                    .<PointModel>map(Ewma::new)
                                    .orElseGet(() -> t.get().ewma()))),
            model(
                    "seasonal-naive",
                    "as yesterday, moved by the last half hour",
                    (s, t) -> t.get().orEwma(new SeasonalNaive(s))),
            model("holt-winters", "a mean, a daily season, and an error that decays", (s, t) -> {
                Tuning tuning = t.get();
                return tuning.orEwma(tuning.holtWinters(s));
            }),
            model(
                    "harmonic-ar",
                    "waves of a day and a week, and how much of a deviation from them is left",
                    (s, t) -> t.get().orEwma(new HarmonicAr(s))),
            model(
                    "median3",
                    "the middle of ewma, holt-winters and harmonic-ar",
                    (s, t) -> new Median(t.get().three(s))),
            model(
                    "select",
                    "at each horizon the one of ewma, holt-winters, harmonic-ar and seasonal-naive that did best in the last day",
                    (s, t) -> new Select(s, t.get().four(s))),
            new Model(
                    new Info(
                            "lendstream", "means and seasons, weighed by what each would have gained lately", Map.of()),
                    (s, given, t) -> new ExpertMixture(s)));

    private Models() {}

    /**
     * A model that settings can name.
     *
     * @param summary what it expects, in a line
     * @param settings its settings with their defaults, by name; every one a number in (0, 100]
     */
    public record Info(String name, String summary, Map<String, Double> settings) {}

    /** The models in the order in which they are listed to a reader. */
    public static List<Info> all() {
        return ALL.stream().map(Model::info).toList();
    }

    /** A new model without history. */
    public static ForecastModel create(ForecastSettings settings) {
        return create(settings, () -> Tuning.untuned(settings));
    }

    /**
     * A new model without history whose settings, where it has any that are not named, did best on a part of the
     * series. That takes two passes over a hundred candidates, so it is for evaluations.
     *
     * @param firstStep number of the part's first step
     * @param arrivalsPerSecond of each step, NaN for missing
     */
    public static ForecastModel tuned(ForecastSettings settings, long firstStep, double... arrivalsPerSecond) {
        double[] requests = arrivalsPerSecond.clone();
        for (int i = 0; i < requests.length; i++) {
            requests[i] *= settings.stepSeconds();
        }
        return create(settings, () -> Tuning.on(settings, firstStep, requests));
    }

    private static ForecastModel create(ForecastSettings settings, Supplier<Tuning> tuning) {
        String[] parts = settings.model().split(":", -1);
        Model model = ALL.stream()
                .filter(candidate -> candidate.info.name().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("forecast model is '%s', but must be one of %s"
                        .formatted(parts[0], all().stream().map(Info::name).collect(Collectors.joining(", ")))));
        Map<String, Double> given = new TreeMap<>();
        for (String part : List.of(parts).subList(1, parts.length)) {
            int equals = part.indexOf('=');
            String key = equals < 0 ? part : part.substring(0, equals);
            if (!model.info.settings().containsKey(key)) {
                throw new IllegalArgumentException("forecast model '%s' has no setting '%s'; it has %s"
                        .formatted(parts[0], key, model.info.settings().keySet()));
            }
            given.put(key, number(parts[0] + ":" + key, part.substring(equals + 1)));
        }
        return model.make.make(settings, given, tuning);
    }

    private static double number(String name, String text) {
        double value;
        try {
            value = Double.parseDouble(text);
        } catch (NumberFormatException notANumber) {
            value = Double.NaN;
        }
        if (!(value > 0 && value <= 100)) {
            throw new IllegalArgumentException(
                    "%s is '%s', but must be a number above 0 and at most 100".formatted(name, text));
        }
        return value;
    }

    private record Model(Info info, Maker make) {}

    private interface Maker {
        /** @param given settings that were named */
        ForecastModel make(ForecastSettings settings, Map<String, Double> given, Supplier<Tuning> tuning);
    }

    private interface PointMaker {
        PointModel make(ForecastSettings settings, Supplier<Tuning> tuning);
    }

    private static Model model(String name, String summary, PointMaker make) {
        return new Model(new Info(name, summary, Map.of()), (s, given, t) -> new Calibrated(s, make.make(s, t)));
    }
}
