package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.operation.Finding.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Findings about the scheduler, from the records it refuses and the domains it logs. */
final class SchedulerDiagnosis {
    /** A share of fewer records has no meaning. */
    private static final int LEAST = 20;

    private static final int NAMED = 5;
    private static final Duration STOPPED_WITHIN = Duration.ofMinutes(5);
    private static final Pattern DOMAIN = Pattern.compile("^domain (\\S+) (?:has been|is) stopped");

    private SchedulerDiagnosis() {}

    /** Whether records are refused, and whether most are. */
    static Finding deadLetters(List<RefusedRecords> topics) {
        List<RefusedRecords> some =
                topics.stream().filter(topic -> topic.letters() > 0).toList();
        if (some.isEmpty()) {
            return Finding.ok("dead-letters", "none in the last hour");
        }
        Optional<RefusedRecords> mostly = some.stream()
                .filter(topic -> topic.records() >= LEAST && 2 * topic.byScheduler() > topic.records())
                .findFirst();
        if (mostly.isPresent()) {
            RefusedRecords topic = mostly.get();
            return Finding.fail(
                    "dead-letters",
                    "the scheduler refused most of %s in the last hour, about %d of %d records; the last because: %s"
                            .formatted(topic.topic(), topic.byScheduler(), topic.records(), topic.lastReason()),
                    "correct the writer of this topic; if the reason is a clock, synchronise all machines with NTP");
        }
        List<String> counts = some.stream()
                .limit(NAMED)
                .map(topic -> "%d of %s (the last: %s)".formatted(topic.letters(), topic.topic(), topic.lastReason()))
                .toList();
        return Finding.warn(
                "dead-letters",
                "in the last hour %s".formatted(String.join("; ", counts)),
                "read the header lendstream.error.message in the topic's dead letters (-dlq), and correct their writer");
    }

    /** The kinds of GPUs that the schedulers tell apart, and what follows for jobs and services. */
    static Finding kinds(Collection<Lease> leases, Collection<InferenceService> services, SeenPolicies policies) {
        SortedMap<DomainId, SortedMap<KindId, Integer>> domains = kinds(leases);
        return kindsOfServices(domains, services).orElseGet(() -> kinds(domains, policies));
    }

    /** The domains whose GPUs are of several kinds. */
    static Set<DomainId> withSeveralKinds(Collection<Lease> leases) {
        SortedMap<DomainId, SortedMap<KindId, Integer>> domains = kinds(leases);
        domains.values().removeIf(kinds -> kinds.size() < 2);
        return domains.keySet();
    }

    /** How many GPUs of each kind the domains have. */
    private static SortedMap<DomainId, SortedMap<KindId, Integer>> kinds(Collection<Lease> leases) {
        SortedMap<DomainId, SortedMap<KindId, Integer>> domains = new TreeMap<>();
        for (Lease lease : leases) {
            lease.kind()
                    .ifPresent(kind -> domains.computeIfAbsent(lease.domain(), any -> new TreeMap<>())
                            .merge(kind, 1, Integer::sum));
        }
        return domains;
    }

    private static Finding kinds(SortedMap<DomainId, SortedMap<KindId, Integer>> domains, SeenPolicies policies) {
        String several = several(domains);
        if (several.isEmpty()) {
            return Finding.ok("kinds", domains.isEmpty() ? "not told apart" : "one kind of GPU in each domain");
        }
        List<String> choices = new ArrayList<>();
        domains.forEach((domain, kinds) -> {
            if (kinds.size() > 1) {
                choices.add(choice(domain, policies.of(domain)));
            }
        });
        return Finding.ok("kinds", "%s; each kind is planned apart; %s".formatted(several, String.join("; ", choices)));
    }

    /** Whether the policy of a domain chooses kinds, and what follows if it does not. */
    private static String choice(DomainId domain, Optional<Policy> policy) {
        if (policy.isEmpty()) {
            return "the policy of domain %s is not known; %s choose kinds by the speeds that jobs declare"
                    .formatted(domain, thatChoose());
        }
        return policy.get().kinds().isPresent()
                ? "policy %s of domain %s chooses kinds by the speeds that jobs declare"
                        .formatted(policy.get().info().name(), domain)
                : "policy %s of domain %s does not choose kinds: a job stays on one kind while it has GPUs, be it slow or fast there; %s choose kinds by the speeds that jobs declare"
                        .formatted(policy.get().spec(), domain, thatChoose());
    }

    private static String thatChoose() {
        return Policies.all().stream()
                .filter(policy -> policy.kinds().isPresent())
                .map(policy -> policy.info().name())
                .collect(Collectors.joining(" and "));
    }

    /** The domains with several kinds, and how many GPUs of each they have. */
    private static String several(SortedMap<DomainId, SortedMap<KindId, Integer>> domains) {
        List<String> several = new ArrayList<>();
        domains.forEach((domain, kinds) -> {
            if (kinds.size() > 1) {
                several.add("domain %s has %s"
                        .formatted(
                                domain,
                                kinds.entrySet().stream()
                                        .map(kind -> kind.getValue() + " " + kind.getKey())
                                        .collect(Collectors.joining(", "))));
            }
        });
        return String.join("; ", several);
    }

    /** Services that declare none of the kinds of their domain, or that take several kinds as alike. */
    private static Optional<Finding> kindsOfServices(
            SortedMap<DomainId, SortedMap<KindId, Integer>> domains, Collection<InferenceService> services) {
        List<String> alike = new ArrayList<>();
        List<String> homeless = new ArrayList<>();
        for (InferenceService service : services) {
            Set<KindId> kinds = domains.getOrDefault(service.domain(), Collections.emptySortedMap())
                    .keySet();
            if (kinds.size() > 1 && service.takesKindsAsAlike()) {
                alike.add(service.service().value());
            }
            if (!kinds.isEmpty() && kinds.stream().noneMatch(kind -> service.uses(Optional.of(kind)))) {
                homeless.add(service.service().value());
            }
        }
        if (!homeless.isEmpty()) {
            return Optional.of(Finding.warn(
                    "kinds",
                    "no GPU is of a kind that these services declare: " + some(homeless),
                    "write the kinds in their capacities as the leases have them"));
        }
        return alike.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.warn(
                        "kinds",
                        "%s; these services take all kinds as alike: %s".formatted(several(domains), some(alike)),
                        "declare in their capacities what a replica answers on each kind"));
    }

    /**
     * Whether the log of every domain grows.
     *
     * @param topics the recently refused records
     * @param heard the domains with telemetry in the last minutes
     * @param logged the newest event of each domain's log in the last minutes
     */
    static Finding domains(List<RefusedRecords> topics, Set<String> heard, Map<String, Instant> logged, Instant now) {
        TreeSet<String> stopped = new TreeSet<>();
        for (RefusedRecords topic : topics) {
            for (RefusedRecords.Letter letter : topic.latest()) {
                boolean isRecent = letter.at().isAfter(now.minus(STOPPED_WITHIN));
                if (letter.isOfStoppedDomain() && isRecent && !wentOn(letter, logged)) {
                    stopped.add(letter.message());
                }
            }
        }
        if (!stopped.isEmpty()) {
            return new Finding(
                    "domains",
                    Level.FAIL,
                    some(new ArrayList<>(stopped)),
                    "correct the record that caused it and write it again, or start a version that can process it; until then the domain makes no decisions");
        }
        if (heard.isEmpty()) {
            return Finding.silent(
                    "domains",
                    "no node has written telemetry in the last minute, so no domain was checked",
                    Diagnosis.START_AGENTS);
        }
        List<String> silent = heard.stream()
                .filter(domain -> !logged.containsKey(domain))
                .sorted()
                .toList();
        return silent.isEmpty()
                ? Finding.ok(
                        "domains",
                        "the logs of all %s with telemetry grow".formatted(Reason.counted(heard.size(), "domain")))
                : Finding.fail(
                        "domains",
                        "nodes of %s write telemetry, but their log has no new events for minutes"
                                .formatted(some(silent)),
                        "check that the scheduler is ready (/health/ready), and read its log");
    }

    /** Whether the domain's log has grown since one of its records was refused. */
    private static boolean wentOn(RefusedRecords.Letter letter, Map<String, Instant> logged) {
        Matcher name = DOMAIN.matcher(letter.message());
        return name.find()
                && Optional.ofNullable(logged.get(name.group(1)))
                        .filter(letter.at()::isBefore)
                        .isPresent();
    }

    private static String some(List<String> things) {
        String named = String.join("; ", things.stream().limit(NAMED).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
