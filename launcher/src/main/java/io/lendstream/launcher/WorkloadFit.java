package io.lendstream.launcher;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Checks before a replay whether its nodes, and the quotas of its queues, can ever hold each job and service. A tenant
 * that never runs would let the replay wait in vain.
 */
final class WorkloadFit {
    private static final double MILLIS_PER_CPU = 1000;
    private static final double GIB = 1L << 30;
    private static final String MORE_NODES = "--nodes or --kinds, or the section cluster";

    private final Workload played;
    private final SimulatedNodes.Layout layout;
    private final boolean lends;
    private final ShapeFit shapes;
    /** The quotas while no GPU is used. */
    private final QueueLedger quotas;
    /** The GPUs of each product that training can have at most. */
    private final Map<SimulatedGpu, Integer> training;

    /** @param lends whether training may have the nodes of inference too */
    WorkloadFit(Workload played, SimulatedNodes.Layout layout, boolean lends) {
        this.played = played;
        this.layout = layout;
        this.lends = lends;
        this.shapes = new ShapeFit(layout, lends);
        this.quotas = new QueueLedger(played.queues());
        this.training = layout.gpusOfKinds(lends ? layout.nodes() : layout.trainingNodes());
    }

    void check() {
        checkQueueNames();
        for (TrainingTask task : played.tasks()) {
            check(task.job());
        }
        ServiceFit services = new ServiceFit(layout);
        for (ServiceLoad load : played.loads()) {
            services.check(load.service());
        }
    }

    /** If queues are declared, a tenant of another queue would run without a quota. */
    private void checkQueueNames() {
        if (played.queues().isEmpty()) {
            return;
        }
        Set<QueueId> declared = new TreeSet<>();
        played.queues().forEach(queue -> declared.add(queue.queue()));
        for (TrainingTask task : played.tasks()) {
            checkName("job " + task.job().job(), task.job().queue(), declared);
            checkClass(task.job());
        }
        for (ServiceLoad load : played.loads()) {
            InferenceService service = load.service();
            checkName("service " + service.service(), service.queue(), declared);
        }
    }

    private static void checkName(String tenant, Optional<QueueId> queue, Set<QueueId> declared) {
        queue.filter(name -> !declared.contains(name)).ifPresent(name -> {
            throw UserError.badUsage(
                    "%s is in queue %s, but declared queues are %s; correct the name, or declare the queue."
                            .formatted(
                                    tenant,
                                    name,
                                    declared.stream().map(QueueId::value).collect(Collectors.joining(", "))));
        });
    }

    private void checkClass(TrainingJob job) {
        job.precedence().priorityClass().ifPresent(name -> {
            Set<String> classes = played.queues().stream()
                    .filter(queue -> job.queue().filter(queue.queue()::equals).isPresent())
                    .map(queue -> queue.priorityClasses().keySet())
                    .findFirst()
                    .orElse(Set.of());
            if (!classes.contains(name)) {
                throw UserError.badUsage(
                        "job %s is of class %s, but %s; correct priorityClass, or declare the class in priorityClasses."
                                .formatted(
                                        job.job(),
                                        name,
                                        classes.isEmpty()
                                                ? "its queue declares none"
                                                : "its queue declares " + String.join(", ", classes)));
            }
        });
    }

    private void check(TrainingJob job) {
        List<SimulatedGpu> products = new ArrayList<>();
        int most = 0;
        for (Map.Entry<SimulatedGpu, Integer> product : training.entrySet()) {
            if (!job.excludes(product.getKey().kind())) {
                products.add(product.getKey());
                most = Math.max(most, product.getValue());
            }
        }
        int needed = job.leastSize();
        if (needed > most) {
            throw UserError.badUsage(
                    "job %s needs %s%s, but training has %d at most with lending %s%s; change %s, or give it more nodes (%s)."
                            .formatted(
                                    job.job(),
                                    Reason.counted(needed, "GPU"),
                                    ofOneKind(job),
                                    most,
                                    lends ? "on" : "off",
                                    SimulatedGroup.haveInstances(layout.groups())
                                            ? ", without GPUs that are cut into MIG instances (mig)"
                                            : "",
                                    fields(job),
                                    MORE_NODES));
        }
        if (!job.shape().isAny() && !shapes.holds(job)) {
            throw noShape(job, needed);
        }
        checkHost(job);
        job.queue().filter(queue -> !played.queues().isEmpty()).ifPresent(queue -> checkQuota(job, queue, products));
    }

    /** The GPUs that a job may use, with the fields that leave others out. */
    private String ofOneKind(TrainingJob job) {
        List<String> limits = new ArrayList<>();
        if (!job.kindNeeds().allowedKinds().isEmpty()) {
            limits.add("kinds: "
                    + job.kindNeeds().allowedKinds().stream()
                            .map(kind -> kind.value())
                            .collect(Collectors.joining(", ")));
        }
        job.kindNeeds().memoryBytes().ifPresent(bytes -> limits.add("memoryGib: " + QuotaUse.text(bytes / GIB)));
        if (limits.isEmpty()) {
            return training.size() > 1 ? " of one kind" : "";
        }
        return " of one kind that it may use (%s)".formatted(String.join("; ", limits));
    }

    /** The fields that its least number of GPUs comes from. */
    private static String fields(TrainingJob job) {
        List<String> fields = new ArrayList<>(List.of("gpus"));
        JobShape shape = job.shape();
        if (!shape.sizes().isEmpty()) {
            fields.add("sizes");
        }
        if (shape.multipleOf() > 1) {
            fields.add("multipleOf");
        }
        if (!job.kindNeeds().allowedKinds().isEmpty()) {
            fields.add("kinds");
        }
        if (job.kindNeeds().memoryBytes().isPresent()) {
            fields.add("memoryGib");
        }
        return String.join(" or ", fields);
    }

    /** The error of a job whose shape no nodes fit, though they have enough GPUs. */
    private UserError noShape(TrainingJob job, int needed) {
        JobShape shape = job.shape();
        int largest = shapes.largest(job);
        if (shape.required().isPresent() && needed > largest) {
            String level = shape.required().get().level().inWords();
            return UserError.badUsage(
                    "job %s never runs on these nodes: it needs %s in one %s (topology), and no %s has more than %d%s; change the job, or the nodes (%s)."
                            .formatted(
                                    job.job(),
                                    Reason.counted(needed, "GPU"),
                                    level,
                                    level,
                                    largest,
                                    ofOneKind(job),
                                    switch (shape.required().get().level()) {
                                        case RACK -> "--nodes-per-rack or nodesPerRack in the section cluster";
                                        case NVLINK_DOMAIN ->
                                            "--nodes-per-nvlink-domain or nodesPerNvlinkDomain in the section cluster";
                                        default -> "--gpus-per-node or gpusPerNode in the section cluster";
                                    }));
        }
        return UserError.badUsage(
                "job %s never runs on these nodes: it needs %s, its shape is %s, and no number of GPUs fits both the shape and nodes with %s GPUs each, %d in all; change the job, or the nodes (--gpus-per-node or gpusPerNode in the section cluster)."
                        .formatted(
                                job.job(),
                                Reason.counted(needed, "GPU"),
                                shape.inWords(),
                                shapes.sizesOfNodes(job).stream()
                                        .map(String::valueOf)
                                        .collect(Collectors.joining(" or ")),
                                largest));
    }

    /** Whether nodes have the CPU and host memory for the fewest GPUs of a job. */
    private void checkHost(TrainingJob job) {
        int fits = shapes.largestByHost(job);
        if (fits >= job.leastSize()) {
            return;
        }
        HostNeed need = job.hostNeed();
        boolean isCpu = shapes.largestByCpus(job) <= shapes.largestByMemory(job);
        throw UserError.badUsage(
                "job %s needs %s for each of %s (%s), but a node has %s%s (%s), so the nodes that it may use hold %d of these GPUs; change the job, or the nodes."
                        .formatted(
                                job.job(),
                                isCpu
                                        ? cpus(need.cpuMillisPerGpu().orElse(0L))
                                        : memory(need.memoryBytesPerGpu().orElse(0L)),
                                Reason.counted(job.leastSize(), "GPU"),
                                isCpu ? "cpusPerGpu" : "hostGibPerGpu",
                                layout.groups().isEmpty() ? "" : "at most ",
                                isCpu
                                        ? cpus(shapes.most(NodeFacts::cpuMillis))
                                        : memory(shapes.most(NodeFacts::memoryBytes)),
                                isCpu
                                        ? "--cpus-per-node or cpusPerNode in the section cluster"
                                        : "--host-gib-per-node or hostGibPerNode in the section cluster",
                                fits));
    }

    private static String cpus(long millis) {
        return "%s CPUs".formatted(QuotaUse.text(millis / MILLIS_PER_CPU));
    }

    private static String memory(long bytes) {
        return "%s GiB of host memory".formatted(QuotaUse.text(bytes / GIB));
    }

    /** Whether a queue can ever hold a job, with all that it may borrow. */
    private void checkQuota(TrainingJob job, QueueId queue, List<SimulatedGpu> products) {
        List<String> limits = new ArrayList<>();
        int needed = 0;
        for (SimulatedGpu product : products) {
            int least = job.shape().isAny() ? job.leastSize() : shapes.least(job, product);
            Optional<QuotaUse> quota = quotas.use(queue, Optional.of(product.kind()));
            int room = quota.map(QuotaUse::room).orElse(0);
            if (least > 0 && least <= Math.min(room, training.getOrDefault(product, 0))) {
                return;
            }
            needed = least > 0 && (needed == 0 || least < needed) ? least : needed;
            limits.add(quota.map(use -> "%s of kind %s (nominalQuota %s)"
                            .formatted(Reason.counted(use.room(), "GPU"), product, QuotaUse.text(use.nominal())))
                    .orElse("no GPU of kind %s (no quota)".formatted(product)));
        }
        throw UserError.badUsage(
                "job %s needs %s, but its queue %s may never use more than %s, with all that it can borrow; change the job, or the quotas of the queue."
                        .formatted(job.job(), Reason.counted(needed, "GPU"), queue, String.join(", and ", limits)));
    }
}
