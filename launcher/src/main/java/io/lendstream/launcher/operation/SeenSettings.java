package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.scheduler.SchedulerKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The settings that domains have declared. A declaration that schedulers refuse does not count. */
final class SeenSettings {
    private static final String NONE = "none";
    /** The default of each setting of the scheduler, as in its configuration. */
    private static final Map<String, String> DEFAULTS =
            SchedulerKeys.all().stream().collect(Collectors.toMap(Key::name, Key::otherwise));

    private final SortedMap<DomainId, DomainSettings> domains = new TreeMap<>();

    void tell(DomainSettings declared) {
        if (declared.removed()) {
            domains.remove(declared.domain());
        } else if (DeclarableSettings.problem(declared).isEmpty()) {
            domains.put(declared.domain(), declared);
        }
    }

    void forget(DomainId domain) {
        domains.remove(domain);
    }

    Set<DomainId> domains() {
        return domains.keySet();
    }

    Optional<DomainSettings> of(DomainId domain) {
        return Optional.ofNullable(domains.get(domain));
    }

    /**
     * Each setting that a domain may declare, with its value in force and where it is from: declared, set in the
     * configuration, or the default.
     *
     * @param started the start of the domain's scheduler, with the settings of its configuration
     */
    List<String> lines(SchedulerStarted started) {
        Map<String, String> configured =
                new TreeMap<>(SchedulerSettings.of(started.settings()).declarable());
        configured.put(DeclarableSettings.POLICY, started.policy());
        Map<String, String> declared =
                of(started.domain()).map(DomainSettings::settings).orElse(Map.of());
        List<String> lines = new ArrayList<>();
        DeclarableSettings.forms().forEach((name, form) -> {
            String ofStart = shown(form, configured.getOrDefault(name, ""));
            Optional<String> own = Optional.ofNullable(declared.get(name)).map(text -> shown(form, text));
            String origin = isDefault(name, ofStart) ? "default" : "configuration";
            lines.add("%-20s  %-24s  %s"
                    .formatted(
                            name,
                            own.orElse(ofStart),
                            own.map(any -> "declared; %s: %s".formatted(origin, ofStart))
                                    .orElse(origin)));
        });
        return lines;
    }

    /** Whether a shown value is the default; one that the configuration sets to it is the default too. */
    private static boolean isDefault(String name, String value) {
        String otherwise = DEFAULTS.getOrDefault("scheduler." + name, "");
        return value.equals(otherwise.isEmpty() ? NONE : otherwise) || isSameNumber(value, otherwise);
    }

    private static boolean isSameNumber(String one, String other) {
        try {
            return Double.parseDouble(one) == Double.parseDouble(other);
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /** The scheduler of a domain with its declared settings. */
    Scheduler inForce(SchedulerStarted started, Scheduler scheduler) {
        return scheduler.with(of(started.domain()));
    }

    private static String shown(DeclarableSettings.Form form, String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        return form.isTime() ? Units.text(Duration.parse(text)) : text;
    }
}
