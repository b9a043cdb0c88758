package io.lendstream.simulator.published;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.state.GpuState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

/** What a published policy is shown of the cluster: its GPUs, and the jobs that hold them. */
final class PolicyView {
    private final PublishedSettings settings;
    private final Port port;
    private final Instant start;
    /** The GPUs of each node. */
    private final List<List<GpuState>> gpus = new ArrayList<>();

    private final Map<GpuId, Integer> nodeOf = new HashMap<>();
    private final Map<TrainingRun, TruePace> paces = new HashMap<>();

    PolicyView(PublishedSettings settings, Instant start) {
        this.settings = settings;
        this.port = Port.of(settings.policy());
        this.start = start;
        for (int node = 0; node < settings.nodes(); node++) {
            gpus.add(gpusOf(node));
        }
    }

    private List<GpuState> gpusOf(int node) {
        List<GpuState> there = new ArrayList<>();
        Pool pool = node < settings.nodes() / 2 ? Pool.TRAINING : Pool.INFERENCE;
        for (int slot = 0; slot < settings.gpusPerNode(); slot++) {
            GpuId id = new GpuId("node-%04d/%d".formatted(node, slot));
            nodeOf.put(id, node);
            there.add(GpuState.free(id, new NodeId("node-%04d".formatted(node)), pool, start, 0));
        }
        return there;
    }

    /** Adds a job of the workload. */
    void add(TrainingRun run, TruePace pace) {
        paces.put(run, pace);
    }

    int node(GpuId gpu) {
        return Objects.requireNonNull(nodeOf.get(gpu), "the node of a GPU that is not of this cluster");
    }

    /**
     * The node of each GPU, those of one node together: policies that keep a job near to where it is list them mixed.
     */
    int[] nodesOf(List<GpuId> target) {
        Map<Integer, Integer> gpusByNode = new LinkedHashMap<>();
        target.forEach(gpu -> gpusByNode.merge(nodeOf.get(gpu), 1, Integer::sum));
        return gpusByNode.entrySet().stream()
                .flatMapToInt(node -> IntStream.generate(node::getKey).limit(node.getValue()))
                .toArray();
    }

    /**
     * The cluster at a second.
     *
     * @param taken GPUs of each node that replicas use
     * @param waiting replicas and requests that need a GPU
     */
    ClusterView cluster(List<TrainingRun> active, int[] taken, int waiting, int clock) {
        int[] slot = taken.clone();
        List<GpuState> free = new ArrayList<>();
        for (int node = 0; node < settings.nodes(); node++) {
            free.addAll(gpus.get(node).subList(taken[node], settings.gpusPerNode()));
        }
        List<JobView> jobs = new ArrayList<>();
        for (TrainingRun run : active) {
            List<GpuId> held = new ArrayList<>();
            for (int node : run.nodes()) {
                held.add(gpus.get(node).get(slot[node]++).gpuId());
            }
            jobs.add(view(run, held));
        }
        return new ClusterView(
                start.plusSeconds(clock), jobs, free, Set.of(), settings.nodes(), settings.gpusPerNode(), waiting);
    }

    private JobView view(TrainingRun run, List<GpuId> held) {
        RescaleCosts costs = run.trace().application().costs();
        return new DescribedJob(
                run.id(),
                start.plusSeconds(run.row().second()),
                new TrainingJob.Scaling(
                        run.row().replicas(),
                        1,
                        port.largest(run.row(), run.trace().application(), settings.gpus()),
                        true),
                held,
                new DescribedJob.Usage(run.largestRun(), run.restarts(), run.attainedGpuSeconds()),
                run.batches().goodput(),
                Objects.requireNonNull(paces.get(run), "the pace of a job that was not added"),
                run.standing(),
                settings.afe() ? costs : costs.withoutAfe());
    }
}
