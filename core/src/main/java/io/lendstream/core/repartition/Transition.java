package io.lendstream.core.repartition;

import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The steps from the running instances to the instances of a plan.
 *
 * @param steps by stage
 * @param target the plan's instances on the GPUs that were chosen for them, in order
 * @param end the instances after the last step, in order: the target, or a part of it if the transition is partial
 * @param free GPUs without an instance then, by name: they can be lent
 * @param shortfalls services that fall below their rate: during the transition, if this was allowed, else at the next
 *     step that was left out; in order of their names
 * @param duration if stages follow each other at once; within a stage, instances of one GPU are made or removed one
 *     after the other, and all else happens at once
 */
public record Transition(
        List<RepartitionStep> steps,
        List<Instance> target,
        List<Instance> end,
        List<GpuId> free,
        List<Shortfall> shortfalls,
        Duration duration) {
    /**
     * A service that would fall below its rate.
     *
     * @param neededPerSecond requests: its rate, or its capacity at the start if that was less
     * @param servedPerSecond requests that the rest of its instances can answer; below {@code neededPerSecond}
     */
    public record Shortfall(String service, double neededPerSecond, double servedPerSecond) {
        @Override
        public String toString() {
            return "%s needs %.1f requests/s and would have %.1f".formatted(service, neededPerSecond, servedPerSecond);
        }
    }

    public Transition {
        steps = List.copyOf(steps);
        target = List.copyOf(target);
        end = List.copyOf(end);
        free = List.copyOf(free);
        shortfalls = List.copyOf(shortfalls);
    }

    /** Whether the target is reached. */
    public boolean isComplete() {
        return end.equals(target);
    }

    /** The shortfalls, such as {@code chat needs 12.0 requests/s and would have 8.0}; with {@code ;} between them. */
    public String shortfallsInWords() {
        return shortfalls.stream().map(Shortfall::toString).collect(Collectors.joining("; "));
    }

    /** Instances that are made, those included that serve for a while only. */
    public long creations() {
        return steps.stream().filter(RepartitionStep.Create.class::isInstance).count();
    }

    /** Stages, one after the other. */
    public int stages() {
        return steps.isEmpty() ? 0 : steps.get(steps.size() - 1).stage() + 1;
    }
}
