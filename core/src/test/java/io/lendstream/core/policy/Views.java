package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Clusters as policies see them, for tests. */
public final class Views {
    public static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");

    public static final RescaleCosts COSTS = new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3));
    private static final DecisionId LOAN = new DecisionId(new DomainId("d"), 1, 1);

    private Views() {}

    /** Nodes {@code n0, n1...} with as many free GPUs each as given. */
    public static ClusterView cluster(List<JobView> jobs, int... gpusByNode) {
        List<GpuState> gpus = new ArrayList<>();
        for (int node = 0; node < gpusByNode.length; node++) {
            NodeId name = new NodeId("n" + node);
            for (int slot = 0; slot < gpusByNode[node]; slot++) {
                gpus.add(GpuState.free(gpu(node, slot), name, Pool.TRAINING, NOW, 0));
            }
        }
        int most = IntStream.of(gpusByNode).max().orElseThrow();
        return new ClusterView(NOW, jobs, gpus, Set.of(), gpusByNode.length, most, 0);
    }

    /** As {@link #cluster}, but only the first node is training's own; what jobs hold on the others is lent to them. */
    public static ClusterView lendable(List<JobView> jobs, int... gpusByNode) {
        ClusterView cluster = cluster(jobs, gpusByNode);
        List<GpuState> gpus = cluster.gpus().stream()
                .map(gpu -> gpu.nodeId().equals(new NodeId("n0")) ? gpu : lent(gpu, jobs))
                .toList();
        return new ClusterView(NOW, jobs, gpus, Set.of(), cluster.nodes(), cluster.gpusPerNode(), 0);
    }

    private static GpuState lent(GpuState gpu, List<JobView> jobs) {
        GpuState idle = GpuState.free(gpu.gpuId(), gpu.nodeId(), Pool.INFERENCE, NOW, 0);
        return jobs.stream()
                .filter(job -> job.gpus().contains(gpu.gpuId()))
                .findFirst()
                .map(job -> idle.with(new Owner.Lent(job.job(), LOAN, NOW.plusSeconds(600)), NOW, 0))
                .orElse(idle);
    }

    public static GpuId gpu(int node, int slot) {
        return new GpuId("n" + node + "/" + slot);
    }

    public static JobId job(String name) {
        return new JobId(name);
    }

    /** A job that asks for some GPUs, holds others, and goes at a pace. */
    public static JobView job(
            String name, int requested, List<GpuId> held, Pace pace, Optional<QueuePosition> standing) {
        return new DescribedJob(
                job(name),
                NOW.minusSeconds(600),
                new TrainingJob.Scaling(requested, 1, 8, true),
                held,
                DescribedJob.Usage.NONE,
                Optional.empty(),
                pace,
                standing,
                COSTS);
    }

    public static JobView job(String name, int requested) {
        return job(name, requested, List.of(), pace(1, 1), Optional.empty());
    }

    /**
     * A pace at which {@code n} GPUs are {@code n^exponent} times as fast as one.
     *
     * @param iterations of a second on one GPU that remain
     */
    public static Pace pace(double iterations, double exponent) {
        return new Pace() {
            @Override
            public double iterationSeconds(int gpus) {
                return Math.pow(gpus, -exponent);
            }

            @Override
            public int iterationSamples(int gpus) {
                return 100;
            }

            @Override
            public double remainingIterations() {
                return iterations;
            }
        };
    }
}
