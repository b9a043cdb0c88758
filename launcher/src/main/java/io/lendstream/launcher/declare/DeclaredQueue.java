package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.SharedForms.bounds;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A queue with its quotas. */
final class DeclaredQueue implements DeclaredKind<ClusterQueue> {
    private static final ValueForm<Double> GPUS =
            ScalarForms.number("a number of GPUs of at least 0", bounds(KindQuota.class, "nominalQuota"));

    private static final SpecField<ClusterQueue, String> COHORT = SpecField.optional(
            "cohort",
            ScalarForms.name(),
            ClusterQueue::cohort,
            "Queues of one cohort lend each other unused quota. Without it the queue lends and borrows nothing.");
    private static final SpecField<ClusterQueue, Double> WEIGHT = SpecField.defaulted(
            "weight",
            ScalarForms.number("a number above 0", bounds(ClusterQueue.class, "weight")),
            1.0,
            ClusterQueue::weight,
            "Share of borrowed GPUs, relative to other queues.");
    private static final SpecField<ClusterQueue, List<KindQuota>> QUOTAS = SpecField.list(
            "quotas",
            quota(),
            ClusterQueue::quotas,
            "At most one for each kind of GPU. Jobs and services of the queue use no other kinds.");
    private static final SpecField<ClusterQueue, Preemption> WITHIN = SpecField.optional(
            "withinClusterQueue",
            ScalarForms.choice(preemptions(false)),
            ClusterQueue::withinClusterQueue,
            "Whose GPUs a waiting job may take in its own queue. Without it: Never.");
    private static final SpecField<ClusterQueue, Preemption> IN_COHORT = SpecField.optional(
            "reclaimWithinCohort",
            ScalarForms.choice(preemptions(true)),
            ClusterQueue::reclaimWithinCohort,
            "Whose GPUs beyond a nominal quota a waiting job may take in the other queues of the cohort. Without it: Any.");
    private static final SpecField<ClusterQueue, Map<String, Integer>> CLASSES = SpecField.map(
            "priorityClasses",
            ScalarForms.whole(Limits.wholes(ClusterQueue.class, "priorityClasses", int.class)),
            ClusterQueue::priorityClasses,
            "Priority of the jobs that name a class.");

    private static final SpecFields<ClusterQueue> SPEC =
            new SpecFields<>("a queue", List.of(COHORT, WEIGHT, QUOTAS, WITHIN, IN_COHORT, CLASSES));

    private static Map<String, Preemption> preemptions(boolean withAny) {
        Map<String, Preemption> words = new LinkedHashMap<>();
        words.put("Never", Preemption.NEVER);
        words.put("LowerPriority", Preemption.LOWER_PRIORITY);
        if (withAny) {
            words.put("Any", Preemption.ANY);
        }
        return words;
    }

    private static ValueForm<KindQuota> quota() {
        SpecField<KindQuota, KindId> kind = SpecField.optional(
                "kind",
                SharedForms.KIND,
                KindQuota::kind,
                "The kind as `lendstream top` shows it. Without it: all kinds that the queue does not name.");
        SpecField<KindQuota, Double> nominal =
                SpecField.mandatory("nominalQuota", GPUS, KindQuota::nominalQuota, "GPUs that belong to the queue.");
        SpecField<KindQuota, Double> borrowing = SpecField.optional(
                "borrowingLimit",
                GPUS,
                KindQuota::borrowingLimit,
                "Most GPUs beyond the nominal quota, from other queues of the cohort. Without it: no such limit.");
        SpecField<KindQuota, Double> lending = SpecField.optional(
                "lendingLimit",
                GPUS,
                KindQuota::lendingLimit,
                "Most GPUs of the nominal quota that other queues may borrow. Without it: no such limit.");
        return new SpecFields<KindQuota>("a quota", List.of(kind, nominal, borrowing, lending))
                .building(values -> new KindQuota(
                        values.find(kind), values.get(nominal), values.find(borrowing), values.find(lending)));
    }

    @Override
    public String name() {
        return "Queue";
    }

    @Override
    public String word() {
        return "queue";
    }

    @Override
    public List<String> spellings() {
        return List.of("queue", "queues");
    }

    @Override
    public String doc() {
        return "A queue: the quotas of the jobs and services that name it.";
    }

    @Override
    public Topic<ClusterQueue> topic() {
        return TopicCatalogue.QUEUES;
    }

    @Override
    public SpecFields<ClusterQueue> spec() {
        return SPEC;
    }

    @Override
    public ClusterQueue build(ObjectName name, Instant at, SpecValues values, Optional<ClusterQueue> before) {
        return new ClusterQueue(
                new QueueId(name.value()),
                name.domain(),
                at,
                values.find(COHORT),
                values.get(WEIGHT),
                values.get(QUOTAS),
                values.find(WITHIN),
                values.find(IN_COHORT),
                values.get(CLASSES));
    }

    @Override
    public String nameOf(ClusterQueue queue) {
        return queue.queue().value();
    }

    @Override
    public Optional<QueueId> queueOf(ClusterQueue queue) {
        return Optional.empty();
    }

    @Override
    public boolean isRemoved(ClusterQueue queue) {
        return queue.removed();
    }

    @Override
    public List<Column<ClusterQueue>> columns() {
        return List.of(
                new Column<>("COHORT", false, queue -> queue.cohort().orElse("")),
                new Column<>("QUOTA", false, DeclaredQueue::quotas),
                new Column<>("WEIGHT", false, queue -> Cells.number(queue.weight())),
                new Column<>(
                        "CLASSES",
                        true,
                        queue -> String.join(",", queue.priorityClasses().keySet())));
    }

    private static String quotas(ClusterQueue queue) {
        return queue.quotas().stream()
                .map(quota -> quota.kind().map(kind -> kind + ":").orElse("") + Cells.number(quota.nominalQuota()))
                .collect(Collectors.joining(","));
    }
}
