package io.lendstream.actuator;

import io.lendstream.actuator.adoption.FoundProcess;
import io.lendstream.actuator.driver.TenantFinder;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports what runs already on the nodes of this actuator and is claimed by selectors of declared jobs and services: at
 * the first look, when it changes, half a minute after a change, and once a minute. A domain without selectors is not
 * looked for. The driver looks in a thread of its own; all else runs in the actuator's thread.
 */
final class FoundTenants {
    static final Duration BETWEEN_LOOKS = Duration.ofSeconds(10);
    /** With a look between, a report is at most a minute old. */
    static final Duration BETWEEN_REPORTS = Duration.ofSeconds(50);
    /** The scheduler takes over what was found unchanged for 30 s: a change is reported once more then. */
    static final Duration SETTLED = Duration.ofSeconds(31);
    /** The most in one report, which must fit into a record. */
    static final int MOST = 500;

    private static final Logger LOG = LoggerFactory.getLogger(FoundTenants.class);

    private final ActuatorSettings settings;
    private final Map<DomainId, Map<Tenant, AdoptionSelector>> selectors = new TreeMap<>();
    private final Map<DomainId, Set<NodeId>> nodes = new HashMap<>();
    private final Map<DomainId, Last> reported = new HashMap<>();
    private final Set<String> warned = new HashSet<>();
    private final Queue<Look> looks = new ConcurrentLinkedQueue<>();
    private Optional<TenantFinder> finder = Optional.empty();
    private Optional<Instant> nextLook = Optional.empty();
    private boolean isLooking;
    private final Executor looking;

    /** What was found for some domains; for none if the look failed. */
    private record Look(Map<DomainId, List<FoundProcess>> found) {}

    /** @param isNew whether it was reported only once */
    private record Last(List<FoundTenant> found, Instant at, boolean isNew) {
        Instant nextReport() {
            return at.plus(isNew && !found.isEmpty() ? SETTLED : BETWEEN_REPORTS);
        }
    }

    FoundTenants(ActuatorSettings settings) {
        this(settings, task -> {
            var thread = new Thread(task, "found-tenants");
            thread.setDaemon(true);
            thread.start();
        });
    }

    /** @param looking runs one look after the other */
    FoundTenants(ActuatorSettings settings, Executor looking) {
        this.settings = settings;
        this.looking = looking;
    }

    /** Starts to use a driver's finder, if it has one. */
    void use(Optional<TenantFinder> next) {
        finder = next;
    }

    void know(Node node) {
        if (settings.scope().isAll() || settings.nodes().contains(node.nodeId())) {
            nodes.computeIfAbsent(node.domain(), any -> new TreeSet<>()).add(node.nodeId());
        }
    }

    /** Jobs of other drivers claim nothing of this one. */
    void know(TrainingJob job) {
        boolean isOurs = job.driver().equals(settings.driver().name().toLowerCase(Locale.ROOT));
        know(job.domain(), new Tenant.Job(job.job()), isOurs ? job.adopt() : Optional.empty());
    }

    void know(InferenceService service) {
        know(service.domain(), new Tenant.Service(service.service()), service.adopt());
    }

    private void know(DomainId domain, Tenant tenant, Optional<AdoptionSelector> selector) {
        if (selector.isEmpty()) {
            forget(domain, tenant);
            return;
        }
        selectors.computeIfAbsent(domain, any -> new HashMap<>()).put(tenant, selector.get());
        finder.ifPresent(with -> with.know(tenant, selector.get()));
    }

    void forget(DomainId domain, NodeId node) {
        nodes.computeIfPresent(domain, (any, known) -> {
            known.remove(node);
            return known;
        });
    }

    void forget(DomainId domain, JobId job) {
        forget(domain, new Tenant.Job(job));
    }

    void forget(DomainId domain, ServiceId service) {
        forget(domain, new Tenant.Service(service));
    }

    private void forget(DomainId domain, Tenant tenant) {
        selectors.computeIfPresent(domain, (any, known) -> {
            known.remove(tenant);
            return known;
        });
    }

    /** The reports that are due, and perhaps a new look. All declarations must have been read. */
    List<ActuationReport> due(Instant now) {
        var due = new ArrayList<ActuationReport>();
        for (Look look = looks.poll(); look != null; look = looks.poll()) {
            isLooking = false;
            nextLook = Optional.of(now.plus(BETWEEN_LOOKS));
            look.found().forEach((domain, found) -> report(domain, found, now).ifPresent(due::add));
        }
        boolean isTime = !isLooking && nextLook.filter(now::isBefore).isEmpty();
        if (isTime && finder.isPresent()) {
            look(finder.get());
        }
        return due;
    }

    /** A domain whose last selector has gone is reported once more, with nothing. */
    private void look(TenantFinder with) {
        Map<DomainId, Map<Tenant, AdoptionSelector>> wanted = new TreeMap<>();
        selectors.forEach((domain, all) -> {
            boolean hasNode = !nodes.getOrDefault(domain, Set.of()).isEmpty();
            boolean wasFound = Optional.ofNullable(reported.get(domain))
                    .filter(last -> !last.found().isEmpty())
                    .isPresent();
            if (hasNode && (!all.isEmpty() || wasFound)) {
                all.forEach((tenant, selector) -> warn(with, tenant, selector));
                wanted.put(domain, Map.copyOf(all));
            }
        });
        if (wanted.isEmpty()) {
            return;
        }
        isLooking = true;
        looking.execute(() -> {
            Map<DomainId, List<FoundProcess>> found = new TreeMap<>();
            try {
                wanted.forEach((domain, all) -> found.put(domain, with.find(all)));
                looks.add(new Look(found));
            } catch (RuntimeException e) {
                LOG.error("cannot look for what runs already; will try again", e);
                looks.add(new Look(Map.of()));
            }
        });
    }

    private void warn(TenantFinder with, Tenant tenant, AdoptionSelector selector) {
        with.complaint(selector)
                .map(why -> "the selector of %s (%s) claims nothing: %s".formatted(tenant, selector.inWords(), why))
                .filter(warned::add)
                .ifPresent(LOG::warn);
    }

    private Optional<ActuationReport> report(DomainId domain, List<FoundProcess> found, Instant now) {
        List<FoundTenant> all = new ArrayList<>();
        for (NodeId node : nodes.getOrDefault(domain, Set.of())) {
            found.forEach(each ->
                    all.add(new FoundTenant(node, each.user(), each.claimedBy(), each.workers(), each.shown())));
        }
        if (all.size() > MOST && warned.add("too many")) {
            LOG.warn(
                    "selectors claim {} processes in domain {}, and only {} are reported; use narrower selectors",
                    all.size(),
                    domain,
                    MOST);
        }
        List<FoundTenant> some = List.copyOf(all.subList(0, Math.min(all.size(), MOST)));
        Optional<Last> last = Optional.ofNullable(reported.get(domain))
                .filter(known -> known.found().equals(some));
        boolean isNew = last.isEmpty();
        if (last.isPresent() && now.isBefore(last.get().nextReport())) {
            return Optional.empty();
        }
        reported.put(domain, new Last(some, now, isNew));
        return Optional.of(ActuationReport.found(domain, new DecisionId(domain, 0, 0), settings.name(), now, some));
    }
}
