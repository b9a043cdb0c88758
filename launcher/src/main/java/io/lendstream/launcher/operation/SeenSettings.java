package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The settings that domains have declared. A declaration that schedulers refuse does not count. */
final class SeenSettings {
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
     * Each setting that a domain may declare, with its value in force and where it is from.
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
            lines.add("%-20s  %-24s  %s"
                    .formatted(
                            name,
                            own.orElse(ofStart),
                            own.map(any -> "declared; configuration: " + ofStart)
                                    .orElse("configuration")));
        });
        return lines;
    }

    /** The scheduler of a domain with its declared settings. */
    Scheduler inForce(SchedulerStarted started, Scheduler scheduler) {
        return scheduler.with(of(started.domain()));
    }

    private static String shown(DeclarableSettings.Form form, String text) {
        if (text.isEmpty()) {
            return "none";
        }
        return form.isTime() ? Units.text(Duration.parse(text)) : text;
    }
}
