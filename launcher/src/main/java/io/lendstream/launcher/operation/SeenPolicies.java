package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.scheduler.Scheduler;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The policies in force: those with which the schedulers of domains have started, or that domains have declared. */
final class SeenPolicies {
    private final SortedMap<DomainId, SchedulerStarted> starts = new TreeMap<>();
    private final SeenSettings settings = new SeenSettings();

    void take(SchedulerStarted started) {
        starts.merge(started.domain(), started, (known, next) -> next.epoch() >= known.epoch() ? next : known);
    }

    void take(DomainSettings declared) {
        settings.tell(declared);
    }

    /** The policy of a domain; empty if its scheduler is not known, or of a newer version with another policy. */
    Optional<Policy> of(DomainId domain) {
        return Optional.ofNullable(starts.get(domain)).flatMap(this::inForce);
    }

    private Optional<Policy> inForce(SchedulerStarted started) {
        try {
            return Optional.of(settings.inForce(started, Scheduler.of(started)).policy());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
