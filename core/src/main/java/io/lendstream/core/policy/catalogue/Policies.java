package io.lendstream.core.policy.catalogue;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.ats.DeepBoot;
import io.lendstream.core.policy.jct.JctObjective;
import io.lendstream.core.policy.jct.Lendstream;
import io.lendstream.core.policy.published.Afs;
import io.lendstream.core.policy.published.Clairvoyant;
import io.lendstream.core.policy.published.Lyra;
import io.lendstream.core.policy.published.Optimus;
import io.lendstream.core.policy.published.Pollux;
import io.lendstream.core.policy.published.Tiresias;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The policies by name. How to add one: {@code CONTRIBUTING.md}. */
public final class Policies {
    private static final List<Entry> ENTRIES = List.of(
            new Entry(
                    List.of("protect-scale", "place", "kinds"),
                    settings -> new DeepBoot(
                            settings.number("protect-scale", 1.0),
                            settings.choice("place", DeepBoot.NEAR, DeepBoot.AFRESH)
                                    .equals(DeepBoot.AFRESH),
                            settings.choice("kinds", DeepBoot.AWARE, DeepBoot.BLIND)
                                    .equals(DeepBoot.AWARE))),
            new Entry(
                    List.of("wait-price", "scaling", "payback", "plan-every", "plan-after-jobs", "protect-scale"),
                    settings -> new Lendstream(
                            new JctObjective(
                                    settings.number("scaling", Lendstream.SCALING),
                                    settings.duration("payback", Lendstream.PAYBACK.toSeconds() + "s")),
                            new Outlook(settings.number("wait-price", Lendstream.WAIT_PRICE)),
                            settings.duration("plan-every", "60s"),
                            settings.duration("plan-after-jobs", Lendstream.PLAN_AFTER_JOBS.toSeconds() + "s"),
                            settings.number("protect-scale", Lendstream.PROTECT_SCALE))),
            new Entry(List.of("demote-gpu-hours"), settings -> new Tiresias(settings.number("demote-gpu-hours", 16))),
            new Entry(List.of(), settings -> new Afs()),
            new Entry(List.of(), settings -> new Optimus()),
            new Entry(List.of(), settings -> new Lyra()),
            new Entry(
                    List.of("scaling", "payback", "plan-every"),
                    settings -> new Clairvoyant(
                            new JctObjective(settings.number("scaling", 0.5), settings.duration("payback", "300s")),
                            settings.duration("plan-every", "30s"))),
            new Entry(
                    List.of("search"),
                    settings -> new Pollux(settings.choice("search", Pollux.DEEPBOOT, Pollux.ORIGINAL)
                            .equals(Pollux.ORIGINAL))));

    private Policies() {}

    /** All policies with their default settings. */
    public static List<Policy> all() {
        return ENTRIES.stream()
                .map(entry -> entry.make.apply(new Settings("", Map.of())))
                .toList();
    }

    /**
     * Reads {@code name:key=value:key=value}.
     *
     * @throws IllegalArgumentException when there is no such policy or setting; the message names what there is
     */
    public static Policy parse(String spec) {
        String[] parts = spec.split(":", -1);
        String name = parts[0];
        Entry entry = ENTRIES.stream()
                .filter(known -> known.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no policy '%s'; policies are %s"
                        .formatted(name, ENTRIES.stream().map(Entry::name).toList())));
        Map<String, String> settings = new TreeMap<>();
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            String key = equals < 0 ? parts[i] : parts[i].substring(0, equals);
            if (equals < 0 || !entry.keys.contains(key)) {
                throw new IllegalArgumentException(
                        "policy %s has no setting '%s'; its settings are %s, written key=value"
                                .formatted(name, parts[i], entry.keys));
            }
            settings.put(key, parts[i].substring(equals + 1));
        }
        return entry.make.apply(new Settings(name, settings));
    }

    private record Entry(List<String> keys, Function<Settings, Policy> make) {
        String name() {
            return make.apply(new Settings("", Map.of())).info().name();
        }
    }

    private record Settings(String policy, Map<String, String> values) {
        double number(String key, double fallback) {
            String value = values.get(key);
            if (value == null) {
                return fallback;
            }
            try {
                double number = Double.parseDouble(value);
                if (number >= 0 && Double.isFinite(number)) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Falls through to the message that all bad values get.
            }
            throw new IllegalArgumentException(
                    "%s of policy %s must be a number of at least 0, but was '%s'".formatted(key, policy, value));
        }

        /** One of several words; the first is the default. */
        String choice(String key, String... words) {
            String value = values.getOrDefault(key, words[0]);
            if (List.of(words).contains(value)) {
                return value;
            }
            throw new IllegalArgumentException(
                    "%s of policy %s must be one of %s, but was '%s'".formatted(key, policy, List.of(words), value));
        }

        Duration duration(String key, String fallback) {
            String value = values.getOrDefault(key, fallback);
            try {
                Duration duration = Duration.parse("PT" + value);
                if (duration.compareTo(Duration.ofSeconds(1)) >= 0) {
                    return duration;
                }
            } catch (java.time.format.DateTimeParseException e) {
                // Falls through to the message that all bad values get.
            }
            throw new IllegalArgumentException(
                    "%s of policy %s must be a time of at least 1s, such as 60s, but was '%s'"
                            .formatted(key, policy, value));
        }
    }
}
