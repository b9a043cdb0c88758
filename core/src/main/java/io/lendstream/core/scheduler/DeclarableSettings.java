package io.lendstream.core.scheduler;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings that a domain may declare for itself, in place of those of the scheduler's configuration. Each value is
 * valid by itself, so that it stays valid under any configuration. Settings that bound each other, that the process
 * needs at its start, or that describe the site are not among them.
 */
public final class DeclarableSettings {
    /** The name of the policy, which is not among {@link SchedulerSettings}. */
    public static final String POLICY = "policy";

    /** The longest time: times are added to the domain's time. */
    public static final Duration LONGEST = Duration.ofDays(366);

    /** How the text of a setting is written in records. */
    public enum Form {
        FLAG("true or false"),
        SHARE("a number from 0 to 1"),
        FACTOR("a number from 0 to 10"),
        COUNT("a whole number of at least 0"),
        POSITIVE("a whole number of at least 1"),
        TIME("a time from PT0S to P366D, such as PT10M"),
        PERIOD("a time from PT1S to P366D, such as PT10M"),
        TEXT("a text");

        private final String takes;

        Form(String takes) {
            this.takes = takes;
        }

        /** Whether the value is a length of time. */
        public boolean isTime() {
            return this == TIME || this == PERIOD;
        }

        /** Whether a text in a record is such a value. */
        public boolean reads(String text) {
            try {
                return switch (this) {
                    case FLAG -> text.equals("true") || text.equals("false");
                    case SHARE -> isWithin(Double.parseDouble(text), 1);
                    case FACTOR -> isWithin(Double.parseDouble(text), 10);
                    case COUNT -> Integer.parseInt(text) >= 0;
                    case POSITIVE -> Integer.parseInt(text) >= 1;
                    case TIME -> isWithin(Duration.parse(text), Duration.ZERO);
                    case PERIOD -> isWithin(Duration.parse(text), Duration.ofSeconds(1));
                    case TEXT -> true;
                };
            } catch (NumberFormatException | DateTimeException e) {
                return false;
            }
        }

        private static boolean isWithin(double number, double most) {
            return number >= 0 && number <= most;
        }

        private static boolean isWithin(Duration time, Duration least) {
            return time.compareTo(least) >= 0 && time.compareTo(LONGEST) <= 0;
        }
    }

    private static final SortedMap<String, Form> FORMS = Collections.unmodifiableSortedMap(new TreeMap<>(Map.ofEntries(
            Map.entry(POLICY, Form.TEXT),
            Map.entry("lending", Form.FLAG),
            Map.entry("afe", Form.FLAG),
            Map.entry("bind-deadline", Form.PERIOD),
            Map.entry("max-share-lent", Form.SHARE),
            Map.entry("max-loans-per-minute", Form.COUNT),
            Map.entry("max-transfers", Form.POSITIVE),
            Map.entry("min-hold", Form.TIME),
            Map.entry("quiet-windows", Form.TEXT),
            Map.entry("trust-share", Form.SHARE),
            Map.entry("trust-step-after", Form.TIME),
            Map.entry("slo-extra", Form.FACTOR),
            Map.entry("slo-withhold", Form.TIME),
            Map.entry("waiting-first", Form.FLAG),
            Map.entry("foreign-gone-after", Form.PERIOD),
            Map.entry("quarantine-evidence", Form.TIME),
            Map.entry("learn", Form.FLAG),
            Map.entry("remember-profiles", Form.TIME))));

    private DeclarableSettings() {}

    /** The form of each setting that may be declared, by name without {@code scheduler.}. */
    public static SortedMap<String, Form> forms() {
        return FORMS;
    }

    /** Why a declaration cannot be in force, with the way out; empty if it can. One that ends always can. */
    public static Optional<String> problem(DomainSettings declared) {
        if (declared.removed()) {
            return Optional.empty();
        }
        return declared.settings().entrySet().stream()
                .flatMap(each -> problem(each.getKey(), each.getValue()).stream())
                .findFirst()
                .map(why -> "the settings of domain %s: %s".formatted(declared.domain(), why));
    }

    private static Optional<String> problem(String name, String text) {
        Form form = FORMS.get(name);
        if (form == null) {
            boolean isKnown = SchedulerSettings.keys().contains(name);
            return Optional.of("%s cannot be declared for a domain, %s. Domains may declare %s."
                    .formatted(
                            name,
                            isKnown
                                    ? "only in the configuration of the scheduler (scheduler.%s)".formatted(name)
                                    : "there is no such setting",
                            String.join(", ", FORMS.keySet())));
        }
        if (!form.reads(text)) {
            return Optional.of("%s is '%s', but must be %s. Correct it, or leave it out for that of the configuration."
                    .formatted(name, text, form.takes));
        }
        try {
            if (name.equals(POLICY)) {
                Policies.parse(text);
            } else {
                SchedulerSettings.of(Map.of(name, text));
            }
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of("%s is '%s', but %s. Correct it, or leave it out for that of the configuration."
                    .formatted(name, text, e.getMessage()));
        }
    }

    /**
     * The settings in force. Those of the configuration count as the log carries them, so that a replay gets the same.
     *
     * @throws IllegalArgumentException if a value has a {@link #problem}
     */
    static SchedulerSettings over(SchedulerSettings ofStart, DomainSettings declared) {
        Map<String, String> all = ofStart.toMap();
        all.putAll(declared.settings());
        return SchedulerSettings.of(all);
    }

    /** The policy in force. */
    static Policy over(Policy ofStart, DomainSettings declared) {
        return Optional.ofNullable(declared.settings().get(POLICY))
                .map(Policies::parse)
                .orElse(ofStart);
    }
}
