package io.lendstream.core.forecast;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** The forecast models, by name. A new one is a class and a line here. */
public final class Models {
    private static final double SHARP = 10_000;

    private static final List<Model> ALL = List.of(
            model("persistence", "demand stays as it was last", Map.of(), (s, a) -> new Persistence()),
            model(
                    "ewma",
                    "an exponentially weighted mean on a log scale goes on",
                    Map.of("alpha", 0.3),
                    (s, a) -> new Ewma(a.get("alpha"))),
            model(
                    "seasonal-naive",
                    "as yesterday, moved by the last half hour",
                    Map.of(),
                    (s, a) -> new Fallback(new SeasonalNaive(s), new Ewma(0.3))),
            model(
                    "holt-winters",
                    "mean, daily season and how much of a deviation is left",
                    Map.of(),
                    (s, a) -> new Fallback(new HoltWinters(s), new Ewma(0.3))),
            model(
                    "select",
                    "at each horizon the one of ewma, seasonal-naive and holt-winters that did best lately",
                    Map.of(),
                    (s, a) -> new Blend(s, SHARP, List.of(new Ewma(0.3), new SeasonalNaive(s), new HoltWinters(s)))),
            model(
                    "lendstream",
                    "levels, damped trend and daily season, weighed by how well each did lately",
                    Map.of("power", 6.0),
                    (s, a) -> new Blend(
                            s,
                            a.get("power"),
                            List.of(
                                    new Persistence(),
                                    new Ewma(0.5),
                                    new Ewma(0.2),
                                    new Ewma(0.05),
                                    new DampedTrend(s, 0.3, 0.05, 0.95),
                                    new SeasonalNaive(s),
                                    new HoltWinters(s)))));

    private Models() {}

    /**
     * What can be named.
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
        String[] parts = settings.model().split(":", -1);
        Model model = ALL.stream()
                .filter(candidate -> candidate.info.name().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("forecast model is '%s', but must be one of %s"
                        .formatted(parts[0], all().stream().map(Info::name).collect(Collectors.joining(", ")))));
        Map<String, Double> values = new TreeMap<>(model.info.settings());
        for (String part : List.of(parts).subList(1, parts.length)) {
            int equals = part.indexOf('=');
            String key = equals < 0 ? part : part.substring(0, equals);
            if (!values.containsKey(key)) {
                throw new IllegalArgumentException("forecast model '%s' has no setting '%s'; it has %s"
                        .formatted(parts[0], key, model.info.settings().keySet()));
            }
            values.put(key, number(parts[0] + ":" + key, part.substring(equals + 1)));
        }
        return new Calibrated(settings, model.make.apply(settings, values));
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

    private record Model(Info info, BiFunction<ForecastSettings, Map<String, Double>, PointModel> make) {}

    private static Model model(
            String name,
            String summary,
            Map<String, Double> defaults,
            BiFunction<ForecastSettings, Map<String, Double>, PointModel> make) {
        return new Model(new Info(name, summary, defaults), make);
    }
}
