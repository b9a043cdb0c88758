package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Finds the GPUs that jobs may claim. A job that needs whole nodes, one topology domain, or one node, as its actuator
 * does not run it on several, claims GPUs of the area that costs others the least: jobs of the lowest priority, then
 * the fewest GPUs.
 */
final class ClaimSearch {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final QuotaGuard guard;
    private final QueueLedger kept;
    private final ShapeGuard shapes;
    private final AbilityGuard abilities;
    private final ClaimAreas areas;
    private final Bundles bundles;
    private final HostRoom hosts;
    private final ClaimUnits units;

    /** The fewest GPUs that could not be claimed, by asks that are alike: later jobs cannot claim more. */
    private final Map<String, Integer> failed = new HashMap<>();

    private final boolean mayLend;
    private long lendable;

    /**
     * A search.
     *
     * @param kept the use of quotas, with claims
     * @param lendable the most GPUs that may be lent
     */
    ClaimSearch(StepBuilder builder, SchedulerSettings settings, QuotaGuard guard, QueueLedger kept, long lendable) {
        this.builder = builder;
        this.settings = settings;
        this.guard = guard;
        this.kept = kept;
        this.shapes = new ShapeGuard(builder, settings.model().topology());
        this.abilities = new AbilityGuard(builder);
        this.areas = new ClaimAreas(builder, settings.model().topology(), abilities);
        this.bundles = new Bundles(builder);
        this.hosts = new HostRoom(builder);
        this.units = new ClaimUnits(builder, settings);
        this.mayLend =
                settings.lending() && new Safety(settings).againstLoans(builder).isEmpty();
        this.lendable = lendable;
    }

    /** Notes that a claim is taken. */
    void taken(List<GpuId> target) {
        units.changed();
        lendable -= loans(target);
    }

    /** The best claim of GPUs of a kind that a job may have. */
    Optional<QuotaClaim> claim(QuotaClaim.Ask ask) {
        boolean inAreas = areas.bind(ask.job(), ask.gpus());
        String alike = ask.alike(inAreas);
        if (failed.getOrDefault(alike, Integer.MAX_VALUE) <= ask.gpus()) {
            return Optional.empty();
        }
        Optional<QuotaClaim> anywhere = claim(ask, units.all());
        Optional<QuotaClaim> allowed = anywhere.filter(this::mayHave);
        if (!inAreas) {
            if (anywhere.isEmpty() && ask.job().spec().shape().isAny()) {
                failed.merge(alike, ask.gpus(), Math::min);
            }
            return allowed;
        }
        if (allowed.filter(claim -> claim.losses().isEmpty()).isPresent()) {
            return allowed;
        }
        Optional<QuotaClaim> best = allowed;
        boolean isNone = allowed.isEmpty();
        for (List<NodeId> area : areas.of(ask.job(), ask.kind(), units.nodes(ask.kind()))) {
            Optional<QuotaClaim> there =
                    ask.job().spec().shape().wholeNodes() ? ofWholeNodes(ask, area) : claim(ask, units.on(area));
            isNone &= there.isEmpty();
            if (there.isPresent() && isCheaper(there.get(), best) && mayHave(there.get())) {
                best = there;
            }
        }
        if (isNone) {
            failed.merge(alike, ask.gpus(), Math::min);
        }
        return best;
    }

    private boolean isCheaper(QuotaClaim claim, Optional<QuotaClaim> than) {
        return than.isEmpty() || cost(claim).compareTo(cost(than.get())) < 0;
    }

    /** A claim of the whole nodes of an area that cost others the least, each by itself. */
    private Optional<QuotaClaim> ofWholeNodes(QuotaClaim.Ask ask, List<NodeId> area) {
        JobSite site = areas.site(ask.job(), ask.kind());
        SortedMap<NodeId, QuotaClaim.Cost> costs = new TreeMap<>();
        for (NodeId node : area) {
            claim(ask.of(site.layout().gpusOf(node)), units.on(List.of(node)))
                    .ifPresent(claim -> costs.put(node, cost(claim)));
        }
        List<NodeId> nodes = new ArrayList<>();
        costs.entrySet().stream().sorted(Map.Entry.comparingByValue()).forEach(node -> nodes.add(node.getKey()));
        int left = ClaimAreas.size(ask.job(), site, nodes, ask.gpus());
        List<BitSet> sums = ClaimAreas.sums(site, nodes, left);
        List<NodeId> taken = new ArrayList<>();
        Optional<QuotaClaim> best = Optional.empty();
        for (int place = 0; place < nodes.size() && left > 0; place++) {
            int gpus = site.layout().gpusOf(nodes.get(place));
            if (gpus > left || !sums.get(place + 1).get(left - gpus)) {
                continue;
            }
            taken.add(nodes.get(place));
            int all = gpus + best.map(claim -> claim.ask().gpus()).orElse(0);
            Optional<QuotaClaim> more = claim(ask.of(all), units.on(taken));
            if (more.isPresent()) {
                best = more;
                left -= gpus;
            } else {
                taken.remove(taken.size() - 1); // its jobs' queues would give too much with those of the others
            }
        }
        return left == 0 ? best : Optional.empty();
    }

    private QuotaClaim.Cost cost(QuotaClaim claim) {
        int priority = Integer.MIN_VALUE;
        for (QuotaVictims.Loss loss : claim.losses()) {
            priority = Math.max(priority, builder.entities().priorityOf(loss.job()));
        }
        int loans = 0;
        for (GpuId unit : claim.target()) {
            loans += builder.gpu(unit).pool() == Pool.INFERENCE ? 1 : 0;
        }
        return new QuotaClaim.Cost(priority, claim.lost(), loans);
    }

    /** Whether the GPUs of a claim fit the shape of its job, the abilities of their actuators, and the hosts. */
    private boolean mayHave(QuotaClaim claim) {
        List<GpuId> target = claim.target();
        return shapes.allows(claim.job(), target)
                && loans(target) <= lendable
                && hosts.against(claim.job(), target, target).isEmpty()
                && (!abilities.isOn()
                        || (abilities.against(target, target).isEmpty() && mayOpen(target, claim.losses())))
                && LoanLimit.keepsShare(builder, settings, target);
    }

    private int loans(List<GpuId> target) {
        List<GpuId> lent = new ArrayList<>(target);
        lent.removeIf(unit -> builder.gpu(unit).pool() != Pool.INFERENCE);
        return bundles.loans(lent, new HashSet<>());
    }

    /** Whether the other units of the nodes that are lent whole with a claim are free, and in no other claim. */
    private boolean mayOpen(List<GpuId> target, List<QuotaVictims.Loss> losses) {
        Set<GpuId> lost = new HashSet<>();
        losses.forEach(loss -> {
            lost.addAll(loss.job().allocation().gpus());
            loss.left().forEach(lost::remove);
        });
        return bundles.canFollow(target, lost)
                && bundles.opening(target).stream()
                        .allMatch(unit -> target.contains(unit) || units.isFree(builder.gpu(unit)));
    }

    /** The GPUs of a claim out of some units; empty if the quota or the units do not suffice. */
    private Optional<QuotaClaim> claim(QuotaClaim.Ask ask, ClaimUnits.Supply supply) {
        ClusterQueue queue = ask.queue();
        Optional<QuotaUse> use = kept.use(queue.queue(), ask.kind());
        if (use.isEmpty()) {
            return Optional.empty();
        }
        boolean takesOwn = queue.within() == Preemption.LOWER_PRIORITY;
        double room = use.get().nominal() - use.get().used() - guard.keptForFloors(queue.queue());
        double over = ask.gpus() - Math.max(0, room);
        if (over > ROUNDING && !takesOwn) {
            return Optional.empty();
        }
        List<GpuId> free = free(ask, supply.open());
        QuotaVictims victims = new QuotaVictims(
                builder,
                settings,
                kept,
                QuotaVictims.Wanted.by(builder, ask.job(), queue, ask.kind(), mayLend),
                supply.held());
        int ofOwn = over > ROUNDING ? victims.take(true, (int) Math.ceil(over - ROUNDING)) : 0;
        if (ofOwn < over - ROUNDING) {
            return Optional.empty();
        }
        int missing = ask.gpus() - free.size() - ofOwn;
        missing -= missing > 0 ? victims.take(false, missing) : 0;
        missing -= missing > 0 && takesOwn ? victims.take(true, missing) : 0;
        return missing > 0 ? Optional.empty() : Optional.of(new QuotaClaim(ask, use.get(), free, victims.losses()));
    }

    /**
     * Free GPUs of a kind, at most so many as asked for: of the node that has the fewest of those that suffice, if one
     * does. Nodes of training come before loans.
     */
    private List<GpuId> free(QuotaClaim.Ask ask, List<GpuState> open) {
        int most = ask.gpus();
        Map<String, List<GpuId>> byNode = new TreeMap<>();
        long loans = mayLend ? lendable : 0;
        for (GpuState unit : open) {
            boolean isLoan = unit.pool() == Pool.INFERENCE;
            if (unit.kind().equals(ask.kind()) && (!isLoan || loans > 0)) {
                loans -= isLoan ? 1 : 0;
                byNode.computeIfAbsent(unit.nodeId().value(), any -> new ArrayList<>())
                        .add(unit.gpuId());
            }
        }
        List<List<GpuId>> nodes = new ArrayList<>(byNode.values());
        nodes.sort(Comparator.comparing((List<GpuId> units) -> units.size() < most)
                .thenComparing(units -> builder.gpu(units.get(0)).pool() == Pool.INFERENCE)
                .thenComparingInt(units -> units.size() < most ? -units.size() : units.size()));
        List<GpuId> free = new ArrayList<>();
        for (List<GpuId> units : nodes) {
            free.addAll(units.subList(0, Math.min(units.size(), most - free.size())));
        }
        return free;
    }
}
