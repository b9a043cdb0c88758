package io.lendstream.simulator.published;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Finds GPUs for waiting requests at once: idle ones, those of sleeping replicas, and then training's.
 *
 * <p>As published, all GPUs of the cluster are one pool, a job that was promised a number of GPUs may lose some of
 * them, and the GPUs of every job are listed again by node. With {@link PublishedSettings#halves} requests go to the
 * second half of the nodes and evict all training from the node they get a GPU on.
 */
final class Reclaim {
    private final PublishedSettings settings;
    private final List<TrainingRun> jobs;
    private final List<Pod> sleeping;
    private final List<Placeable> waiting;
    private final int[][] training;
    private final int[] idle;
    private final int[] asleep;
    private int next;

    /** A request, or a replica that lost its GPU, that needs one. */
    interface Placeable {
        void place(int node);
    }

    /**
     * @param jobs training jobs in the order of the service they have had
     * @param sleeping sleeping replicas that have a GPU, in that order too
     * @param serving node of each replica that does not sleep
     * @param waiting the requests that need a GPU, in order
     */
    Reclaim(
            PublishedSettings settings,
            List<TrainingRun> jobs,
            List<Pod> sleeping,
            List<Integer> serving,
            List<Placeable> waiting) {
        this.settings = settings;
        this.jobs = jobs;
        this.sleeping = new ArrayList<>(sleeping);
        this.waiting = waiting;
        this.training = new int[jobs.size()][settings.nodes()];
        this.idle = new int[settings.nodes()];
        this.asleep = new int[settings.nodes()];
        Arrays.fill(idle, settings.gpusPerNode());
        serving.forEach(node -> idle[node]--);
        for (Pod pod : sleeping) {
            idle[pod.node()]--;
            asleep[pod.node()]++;
        }
        for (int job = 0; job < training.length; job++) {
            for (int node : jobs.get(job).nodes()) {
                training[job][node]++;
                idle[node]--;
            }
        }
    }

    /** Places as many as there are GPUs for. */
    void place(Speedups speedups) {
        if (settings.halves()) {
            takeNodesOfInference();
        } else {
            takeLeastUsed();
            takeLeastMissed(speedups);
        }
    }

    /** The node of each job's GPUs afterwards. */
    Map<TrainingRun, int[]> nodes() {
        Map<TrainingRun, int[]> nodes = new HashMap<>();
        for (int job = 0; job < training.length; job++) {
            int[] counts = training[job];
            nodes.put(
                    jobs.get(job),
                    IntStream.range(0, counts.length)
                            .flatMap(node -> IntStream.range(0, counts[node]).map(i -> node))
                            .toArray());
        }
        return nodes;
    }

    private boolean isDone() {
        return next == waiting.size();
    }

    private void serve(int node) {
        waiting.get(next++).place(node);
    }

    private int trainingOn(int node) {
        int sum = 0;
        for (int[] gpus : training) {
            sum += gpus[node];
        }
        return sum;
    }

    private void evictSleeper(int node) {
        for (Pod pod : sleeping) {
            if (pod.node() == node) {
                pod.moveTo(Pod.NOWHERE);
                return;
            }
        }
    }

    private List<Integer> byTraining(int firstNode) {
        int[] used = IntStream.range(0, settings.nodes()).map(this::trainingOn).toArray();
        return IntStream.range(firstNode, settings.nodes())
                .boxed()
                .sorted(Comparator.comparingInt(node -> used[node]))
                .toList();
    }

    /** Idle GPUs and then sleeping replicas', node after node, those with least training first. */
    private void takeLeastUsed() {
        List<Integer> order = byTraining(0);
        for (int node : order) {
            for (; !isDone() && idle[node] > 0; idle[node]--) {
                serve(node);
            }
        }
        for (int node : order) {
            for (; !isDone() && asleep[node] > 0; asleep[node]--) {
                evictSleeper(node);
                serve(node);
            }
        }
    }

    /** Training's GPUs one by one, each where the sum of speedups afterwards is greatest. */
    private void takeLeastMissed(Speedups speedups) {
        double[] now = new double[training.length];
        for (int job = 0; job < training.length; job++) {
            now[job] = speedup(speedups, job);
        }
        while (!isDone()) {
            int bestJob = -1;
            int bestNode = -1;
            double best = Double.NEGATIVE_INFINITY;
            for (int job = 0; job < training.length; job++) {
                double before = now[job];
                for (int node = 0; node < settings.nodes(); node++) {
                    if (training[job][node] == 0) {
                        continue;
                    }
                    training[job][node]--;
                    now[job] = speedup(speedups, job);
                    training[job][node]++;
                    double sum = PairwiseSum.of(now);
                    if (sum > best) {
                        best = sum;
                        bestJob = job;
                        bestNode = node;
                    }
                }
                now[job] = before;
            }
            if (bestJob < 0) {
                return;
            }
            training[bestJob][bestNode]--;
            now[bestJob] = speedup(speedups, bestJob);
            serve(bestNode);
        }
    }

    private double speedup(Speedups speedups, int job) {
        int nodes = 0;
        int replicas = 0;
        for (int gpus : training[job]) {
            nodes += gpus > 0 ? 1 : 0;
            replicas += gpus;
        }
        return replicas == 0 ? 0 : speedups.of(jobs.get(job), nodes, replicas);
    }

    private int evictTraining(int node) {
        int evicted = trainingOn(node);
        for (int[] gpus : training) {
            gpus[node] = 0;
        }
        return evicted;
    }

    private void takeNodesOfInference() {
        int first = settings.nodes() / 2;
        for (int node = first; node < settings.nodes(); node++) {
            for (; !isDone() && idle[node] > 0; idle[node]--) {
                serve(node);
                idle[node] += evictTraining(node);
            }
        }
        for (int node = first; node < settings.nodes(); node++) {
            boolean evictsSleepers = true;
            for (; !isDone() && asleep[node] > 0; asleep[node]--) {
                if (evictsSleepers) {
                    evictSleeper(node);
                }
                serve(node);
                int evicted = evictTraining(node);
                asleep[node] += evicted;
                evictsSleepers &= evicted == 0;
            }
        }
        for (int node : byTraining(first)) {
            int left = trainingOn(node);
            for (; !isDone() && left > 0; left--) {
                serve(node);
                evictTraining(node);
            }
        }
    }
}
