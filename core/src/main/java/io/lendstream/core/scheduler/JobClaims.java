package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Judges the claims of jobs. A job is one thing, or one on each of several nodes: these are the parts of one job if
 * each says that it has as many workers as all of them together use GPUs. They are taken over together or not at all.
 */
record JobClaims(ClusterEntities entities) {
    /** The same claims, of which those of jobs stay clear only if nothing speaks against the whole. */
    List<AdoptionClaim> judged(List<AdoptionClaim> claims) {
        Map<Tenant, List<AdoptionClaim>> byJob = new HashMap<>();
        for (AdoptionClaim claim : claims) {
            for (Tenant tenant :
                    claim.units().isEmpty() ? List.<Tenant>of() : claim.found().claimedBy()) {
                if (tenant.isJob()) {
                    byJob.computeIfAbsent(tenant, any -> new ArrayList<>()).add(claim);
                }
            }
        }
        return claims.stream()
                .map(claim -> claim.tenant()
                        .filter(tenant -> claim.isClear() && tenant.isJob())
                        .flatMap(tenant -> against(tenant, claim, byJob.getOrDefault(tenant, List.of())))
                        .map(claim::hindered)
                        .orElse(claim))
                .toList();
    }

    /**
     * Whether a job may have further parts on other nodes, which its actuators found when they last looked.
     *
     * @param some units that it has
     */
    boolean hasPartsElsewhere(Tenant job, List<GpuId> some) {
        Set<NodeId> nodes = new HashSet<>();
        units(some).forEach(unit -> nodes.add(unit.nodeId()));
        for (NodeState node : entities.nodes().values()) {
            for (Findings.Seen seen : node.findings().map(Findings::seen).orElse(List.of())) {
                FoundTenant found = seen.what();
                if (!nodes.contains(found.node())
                        && found.claimedBy().equals(List.of(job))
                        && found.workers().filter(all -> all > some.size()).isPresent()) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Why a claim that is clear by itself is not taken over.
     *
     * @param parts all that the job claims
     */
    private Optional<String> against(Tenant tenant, AdoptionClaim claim, List<AdoptionClaim> parts) {
        TrainingJob job =
                tenant.jobId().flatMap(entities.jobs()::get).map(JobState::spec).orElseThrow();
        List<GpuId> ids = new ArrayList<>();
        parts.forEach(part -> ids.addAll(part.units()));
        List<GpuState> units = units(ids);
        Optional<String> unclear = parts.size() == 1
                ? AdoptionClaims.againstWorkers(claim.found(), ids.size())
                : againstParts(claim, parts, ids.size());
        return unclear.or(() -> againstSize(job, ids.size()))
                .or(() -> AdoptionClaims.againstKinds(units))
                .or(() -> AdoptionClaims.againstInstances("job", job.sliceMemoryBytes(), units))
                .or(() -> excluded(job, units));
    }

    private List<GpuState> units(List<GpuId> ids) {
        return ids.stream().flatMap(id -> entities.gpus().get(id).stream()).toList();
    }

    private Optional<String> againstParts(AdoptionClaim claim, List<AdoptionClaim> parts, int units) {
        Set<NodeId> nodes = new HashSet<>();
        for (AdoptionClaim part : parts) {
            boolean isPart = part.found().claimedBy().size() == 1
                    && nodes.add(part.found().node())
                    && part.found().workers().equals(claim.found().workers())
                    && part.found()
                            .workers()
                            .filter(all -> all > part.units().size())
                            .isPresent();
            if (!isPart) {
                return Optional.of("the selector of the job matches %d things, and the job is one of them"
                        .formatted(parts.size()));
            }
        }
        for (AdoptionClaim part : parts) {
            NodeId node = part.found().node();
            if (!part.isClear()) {
                return Optional.of("its part on %s stays: %s"
                        .formatted(node, part.obstacle().orElseThrow()));
            }
            if (!entities.scopes().abilities(node).spansNodes()) {
                return Optional.of(
                        "it runs on %d nodes, and the actuator of %s runs no job on several nodes; with actuator.spans-nodes=true it does"
                                .formatted(nodes.size(), node));
            }
        }
        return AdoptionClaims.againstWorkers(claim.found(), units).or(() -> againstLoans(parts));
    }

    /** A loan ends by itself at its actuator. If only that one had taken over its part, the part would be killed. */
    private Optional<String> againstLoans(List<AdoptionClaim> parts) {
        return parts.stream()
                .filter(part -> units(part.units()).stream().anyMatch(unit -> unit.pool() == Pool.INFERENCE))
                .findFirst()
                .map(part ->
                        "its part on %s is on an inference node, and jobs on several nodes are taken over on training nodes only"
                                .formatted(part.found().node()));
    }

    private static Optional<String> againstSize(TrainingJob job, int size) {
        TrainingJob.Scaling scaling = job.scaling();
        int least = scaling.elastic() ? scaling.minGpus() : scaling.requestedGpus();
        int most = scaling.elastic() ? scaling.maxGpus() : scaling.requestedGpus();
        if (size < least || size > most || !job.shape().allows(size)) {
            String declared = least == most ? Reason.counted(least, "GPU") : least + " to " + most + " GPUs";
            return Optional.of("agents report it on %s, and the job declares %s%s"
                    .formatted(
                            Reason.counted(size, "GPU"),
                            declared,
                            job.shape().isAny()
                                    ? ""
                                    : " in shape " + job.shape().inWords()));
        }
        return Optional.empty();
    }

    private static Optional<String> excluded(TrainingJob job, List<GpuState> units) {
        return AdoptionClaims.kinds(units).stream()
                .filter(job::excludes)
                .findFirst()
                .map(kind -> "the job does not declare kind " + kind);
    }
}
