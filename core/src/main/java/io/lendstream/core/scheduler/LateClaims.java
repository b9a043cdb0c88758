package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Judges what an actuator has by an adoption that was undone here before it answered. It does not find it any more, so
 * that agents say alone what it is: each unit must have one user that they name.
 *
 * @param rules without the stricter ones nothing is judged, and the actuator stands for what it has
 */
record LateClaims(ClusterEntities entities, Instant now, UserRules rules) {
    /**
     * One claim for each replica, or for each node of a job.
     *
     * @param report says that the actuator has its tenant
     * @param foreign the units of the report
     */
    List<AdoptionClaim> of(ActuationReport report, List<GpuId> foreign) {
        Tenant tenant = report.tenant().orElseThrow();
        List<AdoptionClaim> claims = new ArrayList<>();
        for (List<GpuId> units : parts(tenant, foreign)) {
            claims.add(
                    rules.isStrict()
                            ? judged(report.actuator(), tenant, units)
                            : claim("actuator " + report.actuator(), "", tenant, units));
        }
        return claims;
    }

    private List<List<GpuId>> parts(Tenant tenant, List<GpuId> foreign) {
        if (!tenant.isJob()) {
            return foreign.stream().map(List::of).toList();
        }
        Map<NodeId, List<GpuId>> byNode = new TreeMap<>();
        for (GpuId unit : foreign) {
            byNode.computeIfAbsent(unit(unit).nodeId(), any -> new ArrayList<>())
                    .add(unit);
        }
        return rules.isStrict() ? List.copyOf(byNode.values()) : List.of(foreign);
    }

    private AdoptionClaim judged(String actuator, Tenant tenant, List<GpuId> ids) {
        List<GpuState> units = ids.stream().map(this::unit).toList();
        NodeState node = entities.nodes().require(units.get(0).nodeId());
        Optional<String> user = units.get(0).owner().asForeign().map(ForeignUse::users).orElse(List.of()).stream()
                .filter(name -> name.indexOf(' ') < 0) // words stand for a name that is not known
                .findFirst();
        AdoptionClaim claim = claim(user.orElse(""), "actuator " + actuator + " has it already", tenant, ids);
        if (user.isEmpty()) {
            return claim.hindered("no agent names what runs there");
        }
        return AdoptionClaims.againstUnits(claim.found(), units)
                .or(() -> new AdoptionClaims(entities, now, false).against(node))
                .or(() -> againstSilenceSince(node, units))
                .or(() -> againstOthers(node, claim.found()))
                .map(claim::hindered)
                .orElse(claim);
    }

    private AdoptionClaim claim(String user, String shown, Tenant tenant, List<GpuId> units) {
        FoundTenant held = new FoundTenant(unit(units.get(0)).nodeId(), user, List.of(tenant), Optional.empty(), shown);
        return new AdoptionClaim(held, Optional.of(tenant), units, Optional.empty(), Optional.empty());
    }

    /** Who uses a unit is known only from samples after the adoption was undone. */
    private static Optional<String> againstSilenceSince(NodeState node, List<GpuState> units) {
        return units.stream()
                .filter(unit -> node.lastSampleAt()
                        .filter(last -> !last.isBefore(unit.since()))
                        .isEmpty())
                .findFirst()
                .map(unit -> "no agent has reported on %s since it is foreign".formatted(unit.gpuId()));
    }

    /** It may be found again, and be claimed by others, or not at all. */
    private static Optional<String> againstOthers(NodeState node, FoundTenant found) {
        return node.findings().map(Findings::seen).orElse(List.of()).stream()
                .map(Findings.Seen::what)
                .filter(seen ->
                        seen.user().equals(found.user()) && !seen.claimedBy().equals(found.claimedBy()))
                .findFirst()
                .map(seen -> "the selector of %s does not match it alone"
                        .formatted(found.claimedBy().get(0)));
    }

    private GpuState unit(GpuId id) {
        return entities.gpus().require(id);
    }
}
