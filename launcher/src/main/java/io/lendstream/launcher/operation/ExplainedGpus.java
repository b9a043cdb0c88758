package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.LendingReview;
import io.lendstream.core.scheduler.UnitReview;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.SlotKnowledge;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The reasons why GPUs are not lent, for people and for tools, from the logs of their domains. */
final class ExplainedGpus {
    private static final int NAMED = 5;

    private final Optional<GpuId> wanted;
    private final GpuNames names;
    private final UnitParts parts;
    private final SortedMap<DomainId, OfDomain> domains = new TreeMap<>();
    private boolean isLogRead;

    /** The explained GPUs of a domain with their leases, and the log of the domain. */
    private static final class OfDomain {
        private final LendingExplainer log;
        private final SortedMap<GpuId, Lease> leases = new TreeMap<>();

        OfDomain(DomainId domain) {
            log = new LendingExplainer(domain);
        }
    }

    /**
     * One GPU with its instances, or all GPUs of inference.
     *
     * @param leases the leases of all GPUs
     * @param wanted the GPU; empty for all
     * @param names short names of GPUs
     */
    ExplainedGpus(Collection<Lease> leases, Optional<GpuId> wanted, GpuNames names) {
        this.wanted = wanted;
        this.names = names;
        this.parts = new UnitParts(leases);
        for (Lease lease : leases) {
            if (wanted.map(gpu -> isOf(gpu, lease)).orElse(lease.pool() == Pool.INFERENCE)) {
                domains.computeIfAbsent(lease.domain(), OfDomain::new).leases.put(lease.gpuId(), lease);
            }
        }
        if (domains.isEmpty()) {
            throw UserError.failed(nothing(leases));
        }
    }

    private static boolean isOf(GpuId gpu, Lease lease) {
        return lease.gpuId().equals(gpu) || lease.gpuId().value().startsWith(gpu + "/");
    }

    private String nothing(Collection<Lease> leases) {
        String there = leases.isEmpty()
                ? "no GPU has a lease yet"
                : "the first of %s with a lease: %s"
                        .formatted(
                                Reason.counted(leases.size(), "GPU"),
                                leases.stream()
                                        .limit(NAMED)
                                        .map(lease -> names.detailed(lease.gpuId()))
                                        .collect(Collectors.joining(", ")));
        return wanted.map(gpu -> "GPU '%s' has no lease; %s.".formatted(gpu, there))
                .orElse("no GPU of inference has a lease; " + there + ".");
    }

    /** The domains of the GPUs. */
    Set<DomainId> domains() {
        return domains.keySet();
    }

    /** Records that the logs are read, even if nothing is in them. */
    void read() {
        isLogRead = true;
    }

    /** Takes the snapshot of a domain after which its log is replayed. */
    void begin(Snapshot snapshot) {
        Optional.ofNullable(domains.get(snapshot.domain())).ifPresent(domain -> domain.log.after(snapshot));
    }

    /** Takes the next event of a log; events of other domains are ignored. */
    void take(DomainEvent event) {
        isLogRead = true;
        OfDomain domain = domains.get(event.domain());
        if (domain != null) {
            domain.log.take(event);
        }
    }

    /** The reason why the GPUs of a domain cannot be explained; empty if they can. */
    private Optional<String> obstacle(OfDomain domain) {
        return isLogRead ? domain.log.obstacle() : Optional.of("the log was not replayed");
    }

    private List<UnitReview> reviews(OfDomain domain, Instant at) {
        Optional<LendingReview> review = isLogRead ? domain.log.review(at) : Optional.empty();
        return review.map(known -> wanted.map(known::of).orElseGet(known::inference))
                .orElse(List.of());
    }

    /** The explanation for people: a sentence for each GPU. */
    List<String> lines(Instant at) {
        List<String> lines = new ArrayList<>();
        domains.forEach((name, domain) -> {
            List<UnitReview> reviews = reviews(domain, at);
            reviews.stream()
                    .sorted(Comparator.comparing(UnitReview::unit, names.order()))
                    .forEach(review -> lines.add(line(review) + part(domain, review.unit())));
            domain.leases.values().stream()
                    .filter(lease ->
                            reviews.stream().noneMatch(review -> review.unit().equals(lease.gpuId())))
                    .sorted(Comparator.comparing(Lease::gpuId, names.order()))
                    .forEach(lease -> lines.add("%s: %s; the reason is unknown: %s%s"
                            .formatted(
                                    names.of(lease.gpuId()),
                                    EventText.of(lease.owner()),
                                    obstacle(domain).orElse("its log does not name it"),
                                    part(domain, lease.gpuId()))));
            domain.log
                    .scheduler()
                    .filter(any -> obstacle(domain).isEmpty())
                    .ifPresent(scheduler ->
                            lines.add("(domain %s after event %d of its log, %s, replayed %s; policy %s, %s)"
                                    .formatted(
                                            name,
                                            domain.log.lastEvent(),
                                            Times.exact(domain.log.lastEventAt()),
                                            ReplayStart.inWords(domain.log.start()),
                                            scheduler.policy().spec(),
                                            nextPlan(domain.log))));
        });
        wanted.ifPresent(gpu -> lines.add("(%s%s)".formatted(names.detailed(gpu), kind(gpu) + slot(gpu))));
        return lines;
    }

    /** The replica of several GPUs, or the gang, that a GPU is a part of, and who uses it beside its tenant. */
    private String part(OfDomain domain, GpuId gpu) {
        return Optional.ofNullable(domain.leases.get(gpu))
                .map(lease -> parts.after("; ", lease)
                        + lease.intruders()
                                .map(others -> "; " + others.inWords())
                                .orElse(""))
                .orElse("");
    }

    /** While a domain is frozen, no plan is made at the time for the next one. */
    private static String nextPlan(LendingExplainer log) {
        if (log.isFrozen()) {
            return "lending is frozen: no plan until 'lendstream thaw'";
        }
        return log.nextPlanAt()
                .map(next -> (isResting(log, next)
                                ? "next plan when a job or GPU changes, at the latest at "
                                : "next plan at ")
                        + Times.exact(next))
                .orElse("no plan yet");
    }

    /** Whether the last plan stays the same until a change, so that the regular next one is left out. */
    private static boolean isResting(LendingExplainer log, Instant next) {
        return log.scheduler()
                .filter(scheduler ->
                        next.isAfter(log.lastEventAt().plus(scheduler.policy().planEvery())))
                .isPresent();
    }

    private String kind(GpuId gpu) {
        return domains.values().stream()
                .flatMap(domain -> domain.leases.values().stream())
                .filter(lease -> isOf(gpu, lease))
                .flatMap(lease -> lease.kind().stream())
                .findFirst()
                .map(kind -> ", kind " + kind)
                .orElse("");
    }

    /** Whether its tenant may have another GPU. */
    private String slot(GpuId gpu) {
        boolean isSlot = domains.values().stream()
                .flatMap(domain -> domain.leases.values().stream())
                .anyMatch(lease -> isOf(gpu, lease) && isSlot(lease));
        return isSlot ? ", a slot: its tenant may have another GPU like it on its node" : "";
    }

    private static boolean isSlot(Lease lease) {
        return lease.slot().filter(SlotKnowledge::isSlot).isPresent();
    }

    private String line(UnitReview review) {
        return "%s %s: %s%s"
                .formatted(
                        names.of(review.unit()),
                        review.cause() == UnitReview.Cause.LENT ? "is lent" : "is not lent",
                        names.in(review.reason()),
                        review.until()
                                .map(end -> " (until " + Times.at(end) + ")")
                                .orElse(""));
    }

    /** The explanation for tools. */
    ObjectNode json(Instant at) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode all = json.putArray("domains");
        domains.forEach((name, domain) -> {
            ObjectNode one = all.addObject().put("domain", name.value());
            if (obstacle(domain).isPresent()) {
                one.put("obstacle", obstacle(domain).get());
            } else {
                one.put("event", domain.log.lastEvent())
                        .put("eventAt", domain.log.lastEventAt().toString());
                ReplayStart.put(one, domain.log.start());
                domain.log
                        .scheduler()
                        .ifPresent(scheduler ->
                                one.put("policy", scheduler.policy().spec()));
                one.put("frozen", domain.log.isFrozen());
                domain.log
                        .nextPlanAt()
                        .filter(any -> !domain.log.isFrozen())
                        .ifPresent(next -> one.put("nextPlanAt", next.toString()));
            }
            put(one.putArray("gpus"), domain, at);
        });
        return json;
    }

    private void put(ArrayNode gpus, OfDomain domain, Instant at) {
        List<UnitReview> reviews = reviews(domain, at);
        for (UnitReview review : reviews) {
            ObjectNode gpu = gpu(gpus, review.unit());
            put(gpu, Optional.ofNullable(domain.leases.get(review.unit())));
            gpu.put("cause", EventText.lower(review.cause())).put("reason", review.reason());
            review.until().ifPresent(end -> gpu.put("until", end.toString()));
        }
        domain.leases.values().stream()
                .filter(lease ->
                        reviews.stream().noneMatch(review -> review.unit().equals(lease.gpuId())))
                .forEach(lease -> put(gpu(gpus, lease.gpuId()), Optional.of(lease)));
    }

    private ObjectNode gpu(ArrayNode gpus, GpuId gpu) {
        return gpus.addObject().put("gpu", gpu.value()).put("name", names.of(gpu));
    }

    private void put(ObjectNode gpu, Optional<Lease> lease) {
        lease.ifPresent(known -> gpu.put("node", known.nodeId().value())
                .put("pool", EventText.lower(known.pool()))
                .put("owner", known.owner().label())
                .put("since", known.since().toString()));
        lease.flatMap(Lease::kind).ifPresent(kind -> gpu.put("kind", kind.value()));
        lease.filter(ExplainedGpus::isSlot).ifPresent(any -> gpu.put("slot", true));
        lease.ifPresent(known -> parts.put(gpu, known));
        lease.ifPresent(known -> IntruderDiagnosis.put(gpu, known));
    }
}
