package io.lendstream.core.scheduler;

import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Undoes an adoption that did not succeed, or was not answered: what runs there goes on, and the unit is foreign again
 * until its agent has said more. No decision is made, so that nothing is stopped.
 */
record AdoptionFailure(StepBuilder builder) {
    /** In place of the names of users, until an agent tells them. */
    private static final String UNNAMED = "what could not be taken over";

    private static final Duration TRIED_AGAIN_AFTER = Duration.ofMinutes(10);

    /** Whether a unit whose time had come was undone just now with another unit of its job: no more is due. */
    static boolean hasUndone(GpuState gpu, UserRules rules) {
        return rules.isStrict()
                && gpu.owner().asForeign().isPresent()
                && gpu.owner().dueAt().isEmpty();
    }

    /** Undoes it for a unit; of a job for all of its units. */
    void undo(GpuState gpu, Owner.Binding binding) {
        builder.invalidatePlan();
        builder.own(gpu.gpuId(), foreign(gpu, binding.tenant()));
        builder.nodes()
                .get(gpu.nodeId())
                .ifPresent(node -> node.findings()
                        .map(known -> known.tryingAgain(
                                binding.tenant(), builder.now().plus(TRIED_AGAIN_AFTER)))
                        .ifPresent(next -> builder.put(node.with(next))));
        binding.tenant().jobId().flatMap(builder.jobs()::get).ifPresent(this::undo);
    }

    /** Undoes that of a job which has lost a unit meanwhile; whether it was one. Nothing may be stopped for that. */
    boolean undoes(JobState job) {
        boolean isAdopted = isUnanswered(job);
        if (isAdopted) {
            undo(job);
        }
        return isAdopted;
    }

    /** Whether a job keeps its units until actuators say that they have it: strangers may run there until then. */
    boolean keeps(JobState job, UserRules rules) {
        return rules.isStrict() && isUnanswered(job);
    }

    /** Whether what is left of a replica keeps its units until an actuator has said that it has them. */
    boolean keeps(ReplicaGroup group, UserRules rules) {
        return rules.isStrict()
                && group.units().stream().anyMatch(unit -> unit.owner().isAdoption() && !unit.isHere());
    }

    private boolean isUnanswered(JobState job) {
        return job.allocation().gpus().stream()
                .flatMap(gpu -> builder.gpus().get(gpu).stream())
                .anyMatch(unit -> unit.owner().isAdoption());
    }

    private void undo(JobState job) {
        for (GpuId id : job.allocation().gpus()) {
            builder.gpus()
                    .get(id)
                    .filter(gpu -> gpu.isHeldBy(new Tenant.Job(job.spec().job())))
                    .filter(gpu -> gpu.owner().isAdoption() || gpu.owner().isUp())
                    .ifPresent(gpu -> {
                        builder.put(gpu.seen(Optional.empty()));
                        builder.own(id, foreign(gpu, new Tenant.Job(job.spec().job())));
                    });
        }
        builder.put(job.notAdopted());
    }

    /**
     * What runs on a unit is a stranger again, also where another actuator than the one that failed has it already: its
     * agent, and the actuator that found it, have to say for a while that nothing is there.
     */
    private Owner foreign(GpuState gpu, Tenant tenant) {
        List<String> users = builder.nodes().get(gpu.nodeId()).flatMap(NodeState::findings).stream()
                .flatMap(known -> known.seen().stream())
                .map(Findings.Seen::what)
                .filter(found -> found.claimedBy().contains(tenant))
                .map(FoundTenant::user)
                .toList();
        return new Owner.Quarantined(ForeignUse.by(users.isEmpty() ? List.of(UNNAMED) : users));
    }
}
