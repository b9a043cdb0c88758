package io.lendstream.launcher.declare;

import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The forms of values that several kinds of object have. */
final class SharedForms {
    static final ValueForm<KindId> KIND = ScalarForms.id(KindId::new, KindId::value);
    static final ValueForm<QueueId> QUEUE = ScalarForms.id(QueueId::new, QueueId::value);
    static final ValueForm<Double> PER_SECOND =
            ScalarForms.number("a number above 0", bounds(KindCapacity.class, "perSecond"));
    static final ValueForm<TopologyLevel> LEVEL = ScalarForms.choice(levels());

    private SharedForms() {}

    private static Map<String, TopologyLevel> levels() {
        Map<String, TopologyLevel> levels = new LinkedHashMap<>();
        levels.put("node", TopologyLevel.NODE);
        levels.put("nvlink-domain", TopologyLevel.NVLINK_DOMAIN);
        levels.put("rack", TopologyLevel.RACK);
        return levels;
    }

    /** The bounds of a number in records. */
    static Limits.Real bounds(Class<?> record, String component) {
        return Limits.reals(record, component)
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s.%s has no bounds".formatted(record.getSimpleName(), component)));
    }

    /** The bounds of a whole number in records, from {@code least} on. */
    static Limits.Whole wholes(Class<?> record, String component, long least) {
        Limits.Whole bounds = Limits.wholes(record, component, int.class);
        return new Limits.Whole(Math.max(least, bounds.least()), bounds.most());
    }

    /** The bounds of an amount in records. */
    static Limits.Whole amounts(Class<?> record, String component) {
        return Limits.wholes(record, component, long.class);
    }

    /** A length of time as records have it. */
    static ValueForm<Duration> length(Class<?> record, String component) {
        return ScalarForms.length(
                new Limits.Whole(0, Limits.lengths(record, component).most()));
    }

    /** How much faster something is on a kind of GPU. */
    static ValueForm<KindRatio> ratio() {
        SpecField<KindRatio, Double> factor = SpecField.mandatory(
                "factor",
                ScalarForms.number("a number from 0.001 to 1000", bounds(KindRatio.class, "factor")),
                KindRatio::factor,
                "How many times as fast it is there.");
        SpecField<KindRatio, Double> uncertainty = SpecField.mandatory(
                "uncertainty",
                ScalarForms.number("a number from 0 to 0.99", bounds(KindRatio.class, "uncertainty")),
                KindRatio::uncertainty,
                "How far the factor may be off, as a share of it.");
        return new SpecFields<KindRatio>("a ratio", List.of(factor, uncertainty))
                .building(values -> new KindRatio(values.get(factor), values.get(uncertainty)));
    }

    /** What a replica does on a kind of GPU. */
    static ValueForm<KindCapacity> capacity() {
        SpecField<KindCapacity, KindId> kind = SpecField.mandatory(
                "kind", KIND, KindCapacity::kind, "The kind as `lendstream top` shows it, such as Tesla-T4-16GB.");
        SpecField<KindCapacity, Double> perSecond = SpecField.optional(
                "perSecond", PER_SECOND, KindCapacity::perSecond, "Requests per second of one replica within the SLO.");
        SpecField<KindCapacity, KindRatio> ratio = SpecField.optional(
                "ratio",
                ratio(),
                KindCapacity::ratio,
                "Requests per second over those that the service declares. Counts only without perSecond.");
        SpecField<KindCapacity, Duration> warmUp = SpecField.optional(
                "warmUp",
                length(KindCapacity.class, "warmUp"),
                KindCapacity::warmUp,
                "From the decision to the first answer. Without it, that of the service.");
        return new SpecFields<KindCapacity>("a kind of GPU", List.of(kind, perSecond, ratio, warmUp))
                .building(values -> new KindCapacity(
                        values.get(kind), values.find(perSecond), values.find(ratio), values.find(warmUp)));
    }

    /** The step time of a job. */
    static ValueForm<ThroughputParameters> throughput() {
        List<SpecField<ThroughputParameters, ?>> fields = new ArrayList<>();
        var alphaC = seconds(fields, "alphaC", ThroughputParameters::alphaC, "Gradient computation, constant part");
        var betaC = seconds(fields, "betaC", ThroughputParameters::betaC, "Gradient computation, for each sample");
        var alphaN =
                seconds(fields, "alphaN", ThroughputParameters::alphaN, "Synchronisation across nodes, constant part");
        var betaN = seconds(
                fields,
                "betaN",
                ThroughputParameters::betaN,
                "Synchronisation across nodes, for each replica above two");
        var alphaR =
                seconds(fields, "alphaR", ThroughputParameters::alphaR, "Synchronisation within a node, constant part");
        var betaR = seconds(
                fields,
                "betaR",
                ThroughputParameters::betaR,
                "Synchronisation within a node, for each replica above two");
        SpecField<ThroughputParameters, Double> gamma = SpecField.mandatory(
                "gamma",
                ScalarForms.number("a number from 1 to 10", new Limits.Real(1, 10)),
                ThroughputParameters::gamma,
                "Overlap of computation and synchronisation: 1 none, 10 almost full.");
        fields.add(gamma);
        return new SpecFields<>("the seven parameters of the step time", fields)
                .building(values -> new ThroughputParameters(
                        values.get(alphaC),
                        values.get(betaC),
                        values.get(alphaN),
                        values.get(betaN),
                        values.get(alphaR),
                        values.get(betaR),
                        values.get(gamma)));
    }

    private static SpecField<ThroughputParameters, Double> seconds(
            List<SpecField<ThroughputParameters, ?>> fields,
            String name,
            Function<ThroughputParameters, Double> from,
            String doc) {
        SpecField<ThroughputParameters, Double> field = SpecField.mandatory(
                name,
                ScalarForms.number("a number of seconds of at least 0", new Limits.Real(0, 1e18)),
                from,
                doc + ", in seconds.");
        fields.add(field);
        return field;
    }
}
