package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Loans;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.StreamSupport;

/**
 * A policy's view of the cluster: the jobs and the GPUs that it may give, in the same order for equal states. There may
 * be thousands of jobs: a policy with queues should read the next jobs of {@link #queue} and not all {@link #jobs}.
 */
public final class ClusterView {
    /** The order of submission, and then of names. */
    public static final Comparator<JobView> BY_SUBMISSION =
            Comparator.comparing(JobView::submittedAt).thenComparing(JobView::job);

    private final Instant now;
    private final Queue queue;
    private final UsableGpus usable;
    private final Set<JobId> fixed;
    private final int nodes;
    private final int gpusPerNode;
    private final int waiting;
    private List<LoanBundle> bundles = List.of();
    /** The jobs in order of submission, once they were asked for. */
    private Optional<List<JobView>> jobs = Optional.empty();

    /**
     * Jobs that are not over.
     *
     * @param inOrder the jobs, in the order in which it is their turn
     * @param size how many they are
     * @param holding those of them that hold GPUs
     */
    public record Queue(Iterable<JobView> inOrder, int size, List<JobView> holding) {
        public Queue {
            holding = List.copyOf(holding);
        }

        static Queue of(List<JobView> jobs) {
            return new Queue(
                    () -> jobs.stream().sorted(ClusterView::byTurn).iterator(),
                    jobs.size(),
                    jobs.stream().filter(job -> !job.gpus().isEmpty()).toList());
        }
    }

    private ClusterView(
            Instant now, Queue queue, UsableGpus usable, Set<JobId> fixed, int nodes, int gpusPerNode, int waiting) {
        this.now = now;
        this.queue = queue;
        this.usable = usable;
        this.fixed = fixed;
        this.nodes = nodes;
        this.gpusPerNode = gpusPerNode;
        this.waiting = waiting;
    }

    /**
     * A view of all there is.
     *
     * @param now the time to plan for
     * @param jobs jobs that are not over, in order of submission and then name
     * @param gpus GPUs that training may use: its own, lent ones, and idle ones of inference that may be lent; by node
     *     and id
     * @param fixed jobs among {@code jobs} that must keep what they have, because they are being changed now
     * @param nodes how many nodes there are, those of inference included
     * @param gpusPerNode GPUs of the largest node
     * @param waiting replicas that wait for a GPU; a policy may leave GPUs for them
     */
    public ClusterView(
            Instant now,
            List<JobView> jobs,
            List<GpuState> gpus,
            Set<JobId> fixed,
            int nodes,
            int gpusPerNode,
            int waiting) {
        this(now, Queue.of(jobs), UsableGpus.of(gpus), Set.copyOf(fixed), nodes, gpusPerNode, waiting);
        this.jobs = Optional.of(List.copyOf(jobs));
    }

    /**
     * A view that lists jobs when it is asked for them, and where no replica waits.
     *
     * @param usable GPUs that training may use
     */
    public static ClusterView of(
            Instant now, Queue queue, UsableGpus usable, Set<JobId> fixed, int nodes, int gpusPerNode) {
        return new ClusterView(now, queue, usable, fixed, nodes, gpusPerNode, 0);
    }

    /** The same view of some GPUs only. Jobs may hold others too. */
    public ClusterView ofGpus(Predicate<GpuState> which) {
        return new ClusterView(
                        now,
                        queue,
                        UsableGpus.of(gpus().stream().filter(which).toList()),
                        fixed,
                        nodes,
                        gpusPerNode,
                        waiting)
                .withBundles(bundles);
    }

    /** The same view where some GPUs are lent and taken back together. */
    public ClusterView withBundles(List<LoanBundle> together) {
        if (together.isEmpty()) {
            return this;
        }
        ClusterView view = new ClusterView(now, queue, usable, fixed, nodes, gpusPerNode, waiting);
        view.bundles = List.copyOf(together);
        return view;
    }

    /** GPUs that are lent and taken back together; GPUs outside are lent one by one. */
    public List<LoanBundle> bundles() {
        return bundles;
    }

    /** The same view of jobs that are seen in another way. */
    public ClusterView with(UnaryOperator<JobView> seen) {
        List<JobView> all = new ArrayList<>();
        for (JobView job : queue.inOrder()) {
            all.add(seen.apply(job));
        }
        List<JobView> holding = queue.holding().stream().map(seen).toList();
        return new ClusterView(now, new Queue(all, all.size(), holding), usable, fixed, nodes, gpusPerNode, waiting)
                .withBundles(bundles);
    }

    private static int byTurn(JobView one, JobView other) {
        int order = Integer.compare(queue(one), queue(other));
        return order != 0 ? order : queued(one).compareTo(queued(other));
    }

    private static int queue(JobView job) {
        return job.standing().map(QueuePosition::queue).orElse(0);
    }

    private static Instant queued(JobView job) {
        return job.standing().map(QueuePosition::since).orElse(Instant.MAX);
    }

    public Instant now() {
        return now;
    }

    /** Jobs that are not over, in order of submission and then name. */
    public List<JobView> jobs() {
        if (jobs.isEmpty()) {
            jobs = Optional.of(StreamSupport.stream(queue.inOrder().spliterator(), false)
                    .sorted(BY_SUBMISSION)
                    .toList());
        }
        return jobs.get();
    }

    /** How many jobs are not over. */
    public int jobCount() {
        return queue.size();
    }

    /** The same by queue and by their time in it; jobs without a queue are the last of the first queue. */
    public Iterable<JobView> queue() {
        return queue.inOrder();
    }

    /** Jobs that hold GPUs, or are about to. */
    public List<JobView> holding() {
        return queue.holding();
    }

    /** GPUs that training may use, by node and id. */
    public List<GpuState> gpus() {
        return usable.list();
    }

    /** How many they are. */
    public int gpuCount() {
        return usable.count();
    }

    /** On which node one of them is; empty for others. */
    public Optional<NodeId> node(GpuId gpu) {
        return usable.node(gpu);
    }

    /** What each job was lent of them and has still, by job. */
    public Iterable<Map.Entry<JobId, Loans>> loans() {
        return usable.loans();
    }

    /** Jobs that must keep what they have, because they are being changed now. */
    public Set<JobId> fixed() {
        return fixed;
    }

    /** How many nodes there are, those of inference included. */
    public int nodes() {
        return nodes;
    }

    /** GPUs of the largest node. */
    public int gpusPerNode() {
        return gpusPerNode;
    }

    /** Replicas that wait for a GPU; a policy may leave GPUs for them. */
    public int waiting() {
        return waiting;
    }

    /** Jobs that may be changed, in order of submission. */
    public List<JobView> open() {
        return fixed.isEmpty()
                ? jobs()
                : jobs().stream().filter(job -> !fixed.contains(job.job())).toList();
    }

    /** GPUs that are left for the jobs that may be changed. */
    public int capacity() {
        int held = 0;
        for (JobView job : holding()) {
            held += fixed.contains(job.job()) ? job.gpus().size() : 0;
        }
        return Math.max(0, gpuCount() - held);
    }
}
