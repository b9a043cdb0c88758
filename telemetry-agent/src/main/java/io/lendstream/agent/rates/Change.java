package io.lendstream.agent.rates;

import io.lendstream.core.id.ServiceId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * The difference between two readings of an endpoint, by service.
 *
 * <p>A counter that decreased belongs to a restarted server: all that it counts is new. A new series started at zero,
 * because the endpoint was known before.
 */
final class Change {
    private final EndpointReading before;
    private final EndpointReading now;
    private final Preset preset;
    private final ServiceNames names;
    private final Set<ServiceId> restarted = new HashSet<>();
    private final Map<String, Map<String, Double>> earlier = new HashMap<>();

    Change(EndpointReading before, EndpointReading now, Preset preset, ServiceNames names) {
        this.before = before;
        this.now = now;
        this.preset = preset;
        this.names = names;
    }

    /** Services with a counter that decreased; complete after all relevant values were requested. */
    Set<ServiceId> restarted() {
        return Set.copyOf(restarted);
    }

    /** The increase of counters. Empty if the reading has none of them. */
    Optional<SortedMap<ServiceId, Double>> growth(Measure measure) {
        List<Measure.Term> terms = measure.termsIn(now);
        if (terms.isEmpty()) {
            return Optional.empty();
        }
        var sums = new TreeMap<ServiceId, Double>();
        terms.forEach(term -> eachGrowth(
                term.selector(),
                (point, grown) -> service(point).ifPresent(of -> sums.merge(of, term.sign() * grown, Double::sum))));
        return Optional.of(sums);
    }

    /** The gauges' values at the end. */
    SortedMap<ServiceId, Double> level(Measure measure) {
        return level(measure, now);
    }

    /** The change of gauges, negative for a decrease. */
    SortedMap<ServiceId, Double> rise(Measure measure) {
        var rise = new TreeMap<>(level(measure, now));
        level(measure, before).forEach((service, level) -> rise.merge(service, -level, Double::sum));
        return rise;
    }

    /** The increase of a histogram, if there is one. */
    SortedMap<ServiceId, Histogram> histograms(Measure measure) {
        var bars = new TreeMap<ServiceId, SortedMap<Double, Double>>();
        for (Measure.Term term : measure.termsIn(now, "_bucket")) {
            eachGrowth(
                    term.selector(),
                    (point, grown) -> service(point)
                            .ifPresent(of -> bound(point)
                                    .ifPresent(le -> bars.computeIfAbsent(of, any -> new TreeMap<>())
                                            .merge(le, grown, Double::sum))));
        }
        var histograms = new TreeMap<ServiceId, Histogram>();
        bars.forEach((service, of) -> histograms.put(service, Histogram.ofCumulative(of)));
        return histograms;
    }

    /** A quantile that servers compute themselves, over their own time window; the largest of several. */
    SortedMap<ServiceId, Double> quantile(Measure measure, double quantile) {
        var largest = new TreeMap<ServiceId, Double>();
        for (Measure.Term term : measure.termsIn(now)) {
            for (Point point : term.selector().in(now)) {
                if (number(point.label("quantile"))
                        .filter(told -> told == quantile)
                        .isPresent()) {
                    service(point).ifPresent(of -> largest.merge(of, point.value(), Math::max));
                }
            }
        }
        return largest;
    }

    private SortedMap<ServiceId, Double> level(Measure measure, EndpointReading at) {
        var sums = new TreeMap<ServiceId, Double>();
        for (Measure.Term term : measure.termsIn(at)) {
            term.selector()
                    .in(at)
                    .forEach(point ->
                            service(point).ifPresent(of -> sums.merge(of, term.sign() * point.value(), Double::sum)));
        }
        return sums;
    }

    private void eachGrowth(Selector selector, BiConsumer<Point, Double> taker) {
        Map<String, Double> old = earlier.computeIfAbsent(selector.name(), this::valuesBefore);
        for (Point point : selector.in(now)) {
            double was = old.getOrDefault(point.series(), 0.0);
            if (point.value() < was) {
                service(point).ifPresent(restarted::add);
            }
            taker.accept(point, point.value() < was ? point.value() : point.value() - was);
        }
    }

    private Map<String, Double> valuesBefore(String name) {
        var values = new HashMap<String, Double>();
        before.named(name).forEach(point -> values.put(point.series(), point.value()));
        return values;
    }

    private Optional<ServiceId> service(Point point) {
        return names.of(point, preset.labels());
    }

    private static Optional<Double> bound(Point point) {
        return point.label("le").equals("+Inf") ? Optional.of(Double.POSITIVE_INFINITY) : number(point.label("le"));
    }

    private static Optional<Double> number(String text) {
        try {
            return text.isEmpty() ? Optional.empty() : Optional.of(Double.parseDouble(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
