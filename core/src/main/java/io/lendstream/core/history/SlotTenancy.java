package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeGpuKey;
import io.lendstream.core.state.SlotClass;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What runs by the reports of actuators whose driver does not choose units. Where such a report names the unit itself,
 * the unit counts; otherwise the number of tenants on units of one node, kind, pool and profile.
 */
final class SlotTenancy {
    private final Violations violations;
    /** Tenants of which only the class is known, with their numbers of units. */
    private final Map<SlotClass, Map<Tenant, Integer>> slots = new HashMap<>();
    /** Tenants that were reported on a unit itself, by class. */
    private final Map<SlotClass, Map<GpuId, Tenant>> seen = new HashMap<>();

    /** When the last end under a name was reported. */
    private final Map<GpuId, Instant> endedAt = new HashMap<>();

    /** The ends of tenants whose starts were not reported yet, by class. */
    private final Map<SlotClass, Map<Tenant, List<Instant>>> early = new HashMap<>();

    private final Set<Told> told = new HashSet<>();
    /** Tenants on whose unit another was reported before their end. */
    private final List<Overtaken> overtaken = new ArrayList<>();

    /** A part of a report, which may arrive twice. */
    private record Told(GpuId name, Outcome outcome, DecisionId decision, Instant at) {}

    /** A tenant, and the next one on its unit, with the time of that one's start. */
    private record Overtaken(SlotClass like, Tenant before, GpuId unit, Tenant after, Instant at) {}

    SlotTenancy(Violations violations) {
        this.violations = violations;
    }

    /** Whether a report is to be judged here. */
    boolean isAbout(ActuationReport report) {
        return !report.placements().isEmpty()
                || (report.outcome() == Outcome.HOLDS
                        && report.gpus().isEmpty()
                        && report.tenant().isPresent());
    }

    void reported(ActuationReport report, ClusterState state) {
        Optional<Tenant> tenant = report.tenant();
        if (tenant.isEmpty()) {
            return;
        }
        if (report.outcome() == Outcome.HOLDS) {
            holds(report, tenant.get(), state);
            return;
        }
        boolean isEnd = report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED;
        for (GpuId name : isEnd || report.outcome() == Outcome.BOUND ? report.gpus() : List.<GpuId>of()) {
            boolean isOvertaken =
                    !isEnd && endedAt.getOrDefault(name, Instant.MIN).isAfter(report.at());
            if (isOvertaken || !told.add(new Told(name, report.outcome(), report.decision(), report.at()))) {
                continue;
            }
            if (isEnd) {
                endedAt.put(name, report.at());
            }
            Optional<GpuId> unit = report.placement(name).flatMap(UnitPlacement::unit);
            Optional<SlotClass> like = state.gpus().get(unit.orElse(name)).map(SlotClass::of);
            if (like.isPresent() && isEnd) {
                released(report, tenant.get(), like.get(), unit);
            } else if (like.isPresent() && !hasEnded(report, tenant.get(), like.get())) {
                bound(report, tenant.get(), like.get(), unit, state);
                judge(report, tenant.get(), like.get(), state);
            }
        }
    }

    /** A tenant of a unit that is out of service may have left it unseen, as when its node left. */
    private void bound(
            ActuationReport report, Tenant tenant, SlotClass like, Optional<GpuId> unit, ClusterState state) {
        if (unit.isEmpty()) {
            counts(like).merge(tenant, 1, Integer::sum);
            return;
        }
        Tenant before = units(like).put(unit.get(), tenant);
        boolean isOut = state.gpus().require(unit.get()).owner().isQuarantined();
        if (before == null || before.equals(tenant) || isOut) {
            return;
        }
        if (isLeaving(before, like, state)) {
            counts(like).merge(before, 1, Integer::sum);
            overtaken.add(new Overtaken(like, before, unit.get(), tenant, report.at()));
        } else {
            violations.add(
                    Rule.BIND_BEFORE_RELEASE,
                    "%s was bound to %s at %s while %s ran on it".formatted(unit.get(), tenant, report.at(), before));
        }
    }

    /** Whether the end of a tenant on a unit of a class may still be reported. */
    private static boolean isLeaving(Tenant tenant, SlotClass like, ClusterState state) {
        return unitsOf(like, state).stream()
                .anyMatch(unit -> unit.isHeldBy(tenant) && unit.owner().isReleasing());
    }

    /** A tenant that is reported to have left a unit only after the start of the next one there has not made room. */
    private void leftOvertaken(ActuationReport report, Tenant tenant, SlotClass like) {
        for (Overtaken each : overtaken) {
            if (each.before().equals(tenant) && each.like().equals(like)) {
                overtaken.remove(each);
                if (report.at().isAfter(each.at())) {
                    violations.add(
                            Rule.BIND_BEFORE_RELEASE,
                            "%s was bound to %s at %s while %s ran on it, until %s"
                                    .formatted(each.unit(), each.after(), each.at(), tenant, report.at()));
                }
                return;
            }
        }
    }

    private void judge(ActuationReport report, Tenant tenant, SlotClass like, ClusterState state) {
        int there = size(like, state);
        if (running(like) > there) {
            violations.add(
                    Rule.BIND_BEFORE_RELEASE,
                    "%s was bound on node %s at %s while tenants ran on all %d units of its kind there"
                            .formatted(tenant, like.node(), report.at(), there));
        }
    }

    /** A tenant has left a unit, or one of a class. If it is not known which, none of its units there is. */
    private void released(ActuationReport report, Tenant tenant, SlotClass like, Optional<GpuId> unit) {
        if (unit.isPresent() && units(like).remove(unit.get(), tenant)) {
            return;
        }
        leftOvertaken(report, tenant, like);
        int open = counts(like).getOrDefault(tenant, 0);
        if (open == 0 || unit.isEmpty()) {
            open += forgetUnits(tenant, like);
        }
        if (open == 0) {
            ends(tenant, like).add(report.at());
        }
        set(tenant, like, open - 1);
    }

    /** Whether the end of a tenant has been reported before its start, maybe under another name. */
    private boolean hasEnded(ActuationReport start, Tenant tenant, SlotClass like) {
        List<Instant> ends = ends(tenant, like);
        Optional<Instant> end =
                ends.stream().filter(at -> at.isAfter(start.at())).findFirst();
        end.ifPresent(ends::remove);
        return end.isPresent();
    }

    private List<Instant> ends(Tenant tenant, SlotClass like) {
        return early.computeIfAbsent(like, any -> new HashMap<>()).computeIfAbsent(tenant, any -> new ArrayList<>());
    }

    private void set(Tenant tenant, SlotClass like, int count) {
        if (count > 0) {
            counts(like).put(tenant, count);
        } else {
            counts(like).remove(tenant);
        }
    }

    /** Forgets on which units of a class a tenant was seen; how many they were. */
    private int forgetUnits(Tenant tenant, SlotClass like) {
        int before = units(like).size();
        units(like).values().removeIf(tenant::equals);
        return before - units(like).size();
    }

    /** A tenant that has fewer units than it was reported to have has left the others. */
    private void holds(ActuationReport report, Tenant tenant, ClusterState state) {
        Map<SlotClass, Integer> reported = new LinkedHashMap<>();
        slots.keySet().forEach(like -> reported.put(like, 0));
        seen.keySet().forEach(like -> reported.put(like, 0));
        for (GpuId name : report.gpus()) {
            state.gpus().get(name).ifPresent(unit -> reported.merge(SlotClass.of(unit), 1, Integer::sum));
        }
        reported.forEach((like, count) -> {
            int known = counts(like).getOrDefault(tenant, 0)
                    + (int) units(like).values().stream().filter(tenant::equals).count();
            if (known > count) {
                forgetUnits(tenant, like);
                set(tenant, like, count);
            }
        });
    }

    /** A decision that starts tenants where all units of a kind are still in use binds before a release. */
    void decided(Decision decision, ClusterState state) {
        Map<SlotClass, Integer> asked = new LinkedHashMap<>();
        for (GpuId name : decision.action().gpus()) {
            state.gpus()
                    .get(name)
                    .map(SlotClass::of)
                    .filter(this::isKnown)
                    .ifPresent(like -> asked.merge(like, 1, Integer::sum));
        }
        asked.forEach((like, count) -> {
            int there = size(like, state);
            if (running(like) + count > there) {
                violations.add(
                        Rule.BIND_BEFORE_RELEASE,
                        "decision %s binds %s of node %s, where tenants still run on %d of %d"
                                .formatted(
                                        decision.id(),
                                        Reason.counted(count, "unit"),
                                        like.node(),
                                        running(like),
                                        there));
            }
        });
    }

    /** Whether tenants of a unit are counted here. */
    boolean isCounted(GpuId name, ClusterState state) {
        return state.gpus().get(name).map(SlotClass::of).filter(this::isKnown).isPresent();
    }

    private boolean isKnown(SlotClass like) {
        return slots.containsKey(like) || seen.containsKey(like);
    }

    /** Nothing runs on a unit, as an operator saw or as it is gone: no more runs there than was bound by the state. */
    void reset(GpuId name, ClusterState state) {
        Optional<SlotClass> like = state.gpus().get(name).map(SlotClass::of).filter(this::isKnown);
        if (like.isEmpty()) {
            return;
        }
        units(like.get()).remove(name);
        for (Tenant tenant : List.copyOf(counts(like.get()).keySet())) {
            int held = 0;
            for (GpuState unit : unitsOf(like.get(), state)) {
                held += unit.isHeldBy(tenant) && !unit.owner().isBinding() ? 1 : 0;
            }
            set(tenant, like.get(), Math.min(held, counts(like.get()).getOrDefault(tenant, 0)));
        }
    }

    private int running(SlotClass like) {
        int count = units(like).size();
        for (int each : counts(like).values()) {
            count += each;
        }
        return count;
    }

    private static int size(SlotClass like, ClusterState state) {
        return unitsOf(like, state).size();
    }

    private static List<GpuState> unitsOf(SlotClass like, ClusterState state) {
        List<GpuState> units = new ArrayList<>();
        for (Map.Entry<NodeGpuKey, GpuState> unit :
                state.clusterIndex().gpus().seats().from(seat -> seat.node().compareTo(like.node()) >= 0)) {
            if (!unit.getKey().node().equals(like.node())) {
                break;
            }
            if (like.has(unit.getValue())) {
                units.add(unit.getValue());
            }
        }
        return units;
    }

    private Map<Tenant, Integer> counts(SlotClass like) {
        return slots.computeIfAbsent(like, any -> new HashMap<>());
    }

    private Map<GpuId, Tenant> units(SlotClass like) {
        return seen.computeIfAbsent(like, any -> new HashMap<>());
    }
}
