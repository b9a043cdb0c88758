package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.scheduler.SafetyRule;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The explanation of a decision.
 *
 * @param recorded the decision as it was published
 * @param inputs the events it rests on, as far as the log still has them, in their order
 * @param missing sequences of input events that the log no longer has
 * @param made the result of repeating the step that made it; empty if that is not possible
 * @param obstacle why that is not possible; empty if it is
 * @param start the position of the snapshot after which the replay began; empty if it began with the log
 */
public record Explanation(
        Decision recorded,
        List<DomainEvent> inputs,
        List<Long> missing,
        Optional<Made> made,
        Optional<String> obstacle,
        Optional<LogPosition> start) {
    public Explanation {
        inputs = List.copyOf(inputs);
        missing = List.copyOf(missing);
    }

    /** An explanation by a replay of the log from its beginning. */
    public Explanation(
            Decision recorded,
            List<DomainEvent> inputs,
            List<Long> missing,
            Optional<Made> made,
            Optional<String> obstacle) {
        this(recorded, inputs, missing, made, obstacle, Optional.empty());
    }

    /**
     * A repeated step.
     *
     * @param again the decision that the step gives now; empty if it gives none of that name
     * @param policy the policy in force, by name and settings
     * @param mode the orders of operators
     * @param job the GPUs of the job that the decision changes; empty if it changes no job
     * @param owners owners of the decision's GPUs, and of those that its job gains or gives up
     * @param safetyRules the state of the rules when the step began to decide; empty if they were not read
     * @param needs the needs of services
     * @param plannedBy the event of the plan that it follows; empty if it follows none
     * @param alternatives the changes that the policy weighed: loans with the chosen ones first, then the least loss
     *     first; sizes of a job from the smallest up; empty if a rule left no choice, or the policy gives none
     * @param vetoes the causes why jobs did not get the GPUs of the plan, by job
     */
    public record Made(
            Optional<Decision> again,
            String policy,
            ClusterState.Mode mode,
            Optional<JobGpus> job,
            List<Change> owners,
            List<SafetyRule> safetyRules,
            SortedMap<ServiceId, ReplicaNeed> needs,
            Optional<DomainEvent> plannedBy,
            List<Alternative> alternatives,
            SortedMap<String, String> vetoes) {
        public Made {
            owners = List.copyOf(owners);
            safetyRules = List.copyOf(safetyRules);
            needs = copy(needs);
            alternatives = List.copyOf(alternatives);
            vetoes = copy(vetoes);
        }

        private static <K extends Comparable<K>, V> SortedMap<K, V> copy(Map<K, V> map) {
            return Collections.unmodifiableSortedMap(new TreeMap<>(map));
        }
    }

    /**
     * The GPUs of a job that a decision changes.
     *
     * @param before those that it held before the step
     * @param after those that it holds when the decision is carried out
     */
    public record JobGpus(JobId job, List<GpuId> before, List<GpuId> after) {
        public JobGpus {
            before = List.copyOf(before);
            after = List.copyOf(after);
        }

        /** The GPUs that it holds only afterwards. */
        public List<GpuId> gained() {
            return after.stream().filter(gpu -> !before.contains(gpu)).toList();
        }

        /** The GPUs that it holds only before. */
        public List<GpuId> givenUp() {
            return before.stream().filter(gpu -> !after.contains(gpu)).toList();
        }
    }

    /**
     * A GPU's owner before the step and after it; empty while it was not there.
     *
     * @param part its part after the step in a replica of several units, or in those that a gang is about to get
     */
    public record Change(GpuId gpu, Optional<Owner> before, Optional<Owner> after, Optional<GroupPart> part) {}

    /** The GPUs whose owners the decision changes, as far as they are known. */
    public List<GpuId> changedGpus() {
        return made.map(step -> step.owners().stream().map(Change::gpu).toList())
                .orElse(recorded.action().gpus());
    }

    /** The GPUs that the decision gives to a gang, as far as they are known; none if its job is no gang. */
    public List<GpuId> gangGains() {
        ReplicaId gain = ReplicaId.of(recorded.id(), 0);
        return made.map(Made::owners).orElse(List.of()).stream()
                .filter(change -> change.after().filter(Owner::isHeldByJob).isPresent())
                .filter(change -> change.part()
                        .filter(part -> part.replica().equals(gain))
                        .isPresent())
                .map(Change::gpu)
                .toList();
    }

    /** Whether the core makes exactly the recorded decision again. */
    public boolean isAsRecorded() {
        return made.isPresent() && differences().isEmpty();
    }

    /**
     * Whether the repeated decision differs only in the text of its reason and in numbers that only one of them has, as
     * it does after an upgrade that words reasons in another way.
     */
    public boolean isInOtherWords() {
        return made.flatMap(Made::again)
                .filter(again -> again.reason().code().equals(recorded.reason().code())
                        && again.reason().inputs().equals(recorded.reason().inputs()))
                .filter(again ->
                        agree(recorded.reason().numbers(), again.reason().numbers()))
                .filter(again -> differences().size() == 1 && !again.reason().equals(recorded.reason()))
                .isPresent();
    }

    private static boolean agree(Map<String, Double> was, Map<String, Double> is) {
        return was.entrySet().stream()
                .allMatch(number ->
                        is.getOrDefault(number.getKey(), number.getValue()).equals(number.getValue()));
    }

    /** The differences of the repeated decision from the recorded one. */
    public List<String> differences() {
        if (made.isEmpty()) {
            return List.of();
        }
        if (made.get().again().isEmpty()) {
            return List.of("the log gives no decision of this name");
        }
        Decision again = made.get().again().get();
        List<String> differences = new ArrayList<>();
        compare(differences, "at", recorded.at(), again.at());
        compare(differences, "deadline", recorded.deadline(), again.deadline());
        compare(differences, "advisory", recorded.advisory(), again.advisory());
        compare(differences, "action", recorded.action(), again.action());
        compare(differences, "reason", recorded.reason(), again.reason());
        return differences;
    }

    private static void compare(List<String> differences, String part, Object was, Object is) {
        if (!was.equals(is)) {
            differences.add("%s is recorded as %s, but the log gives %s".formatted(part, was, is));
        }
    }
}
