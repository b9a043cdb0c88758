package io.lendstream.simulator.published;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.simulator.workload.PolluxApplication;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One run of a published simulator, from event to event in whole seconds.
 *
 * <p>Every 60 s the policy plans training, and only that; requests that arrive then wait. At every other event only
 * requests are placed. Events are arrivals and ends of requests and, while requests wait, every second in which some
 * replica sleeps or one of their own service is protected.
 */
final class PublishedSimulator {
    private static final int TICK = 60;
    /** Seconds without anything to come in which some job must have trained. */
    private static final int PATIENCE = 86_400;

    private final PublishedSettings settings;
    private final Port port;
    private final Pauses pauses;
    private final Pods pods;
    private final List<TrainingRun> trainings = new ArrayList<>();
    /** Training jobs that are not done, arrived or not. */
    private final List<TrainingRun> open = new ArrayList<>();

    private final PublishedRequests requests = new PublishedRequests();
    private final PolicyView shown;
    private final EventSeconds events = new EventSeconds();
    private int lastArrival;
    private int clock;
    private int busyAt;
    private double computing;
    private double onSecondHalf;

    PublishedSimulator(PublishedWorkload workload, Path traces, PublishedSettings settings, Instant start) {
        this.settings = settings;
        this.port = Port.of(settings.policy());
        this.shown = new PolicyView(settings, start);
        this.pauses = new Pauses(settings.timing(), settings.afe());
        this.pods = new Pods(settings);
        Map<String, ApplicationTrace> known = new HashMap<>();
        for (int i = 0; i < workload.rows().size(); i++) {
            PublishedWorkload.Row row = workload.rows().get(i);
            if (row.isInference()) {
                requests.add(
                        new RequestBatchRun(row, i, application(PolluxApplication.serving(row.application()), row)));
            } else {
                PolluxApplication application = application(PolluxApplication.named(row.application()), row);
                ApplicationTrace trace = known.computeIfAbsent(
                        application.name(), name -> ApplicationTrace.read(traces, application, settings.timing()));
                trainings.add(training(row, trace));
                lastArrival = Math.max(lastArrival, row.second());
            }
            events.add(row.second(), row.duration() > 0);
        }
        open.addAll(trainings);
    }

    private static PolluxApplication application(Optional<PolluxApplication> found, PublishedWorkload.Row row) {
        return found.orElseThrow(() -> new IllegalArgumentException(
                "job %s is of application %s; known are %s, each also as infer-<application>-<number>"
                        .formatted(row.name(), row.application(), PolluxApplication.names())));
    }

    private TrainingRun training(PublishedWorkload.Row row, ApplicationTrace trace) {
        Batches batches = port.tunesBatch()
                ? new TunedBatch(trace, trace.grid(), settings.fitStart())
                : new OwnersBatch(trace, row.batch());
        TrainingRun run = new TrainingRun(row, trace, batches);
        shown.add(run, new TruePace(run, row.batch(), settings.gpusPerNode()));
        return run;
    }

    /** Runs a workload to its end. */
    static PublishedRun run(PublishedWorkload workload, Path traces, PublishedSettings settings, Instant start) {
        PublishedSimulator simulator = new PublishedSimulator(workload, traces, settings, start);
        while (!simulator.isOver()) {
            simulator.step();
        }
        return simulator.outcome();
    }

    PublishedRun outcome() {
        return new PublishedRun(trainings, requests.all(), computing, onSecondHalf);
    }

    int clock() {
        return clock;
    }

    Pods pods() {
        return pods;
    }

    /** Goes on to the next event. */
    void step() {
        int before = clock;
        clock = nextEvent();
        pods.passTo(clock);
        for (TrainingRun run : open) {
            advance(run, before);
        }
        open.removeIf(TrainingRun::isDone);
        requests.serve(clock, pods, events);
        schedule();
        endsSometime();
    }

    /**
     * Where a job never gets a GPU, the published simulators run on for ever: it asks for more than there are, or is
     * only ever given GPUs that it loses to replicas asleep ({@link PublishedSettings#halves}).
     */
    private void endsSometime() {
        if (!requests.isOver() || clock < lastArrival) {
            busyAt = clock;
        }
        if (!open.isEmpty() && clock - busyAt > PATIENCE) {
            TrainingRun first = open.get(0);
            throw new IllegalArgumentException(
                    "job %s never ends: it asks for %d of %d GPUs, and for a whole day in which nothing else was to come %s let no job train; ask for fewer GPUs, give the cluster more, or name another policy"
                            .formatted(
                                    first.row().name(),
                                    first.row().replicas(),
                                    settings.gpus(),
                                    settings.policy().info().name()));
        }
    }

    private void advance(TrainingRun run, int before) {
        if (run.gpus() == 0) {
            return;
        }
        long attained = run.attainedGpuSeconds();
        long paused = run.pausedGpuSeconds();
        run.advance(before, clock - before);
        long held = run.attainedGpuSeconds() - attained;
        double counted = Math.max(0, Math.min(clock, lastArrival) - before) / (double) (clock - before);
        computing += counted * (held - (run.pausedGpuSeconds() - paused));
        if (held > run.pausedGpuSeconds() - paused) {
            busyAt = clock;
        }
        onSecondHalf += (double) held * run.gpusFrom(settings.nodes() / 2) / run.gpus();
    }

    boolean isOver() {
        return requests.isOver() && open.isEmpty();
    }

    private int nextEvent() {
        int next = events.after(clock, (clock / TICK + 1) * TICK);
        List<RequestBatchRun> waiting = requests.waiting();
        if (!waiting.isEmpty()) {
            Set<String> services = new HashSet<>();
            waiting.forEach(request -> services.add(request.row().application()));
            int wanted =
                    pods.all().mapToInt(pod -> wakesAt(pod, services)).min().orElse(Integer.MAX_VALUE);
            next = Math.min(next, Math.max(isForgotten() ? 0 : wanted, clock + 1));
        }
        return next;
    }

    /**
     * Whether waiting requests would never be looked at again: those that have arrived at a tick, where nothing but
     * ticks is to come. The published simulators run on for ever then. Here the next second is an event.
     */
    private boolean isForgotten() {
        return pods.all().findAny().isEmpty() && events.after(clock, EventSeconds.NEVER) == EventSeconds.NEVER;
    }

    /** When a replica gives those who wait reason to look again. */
    private static int wakesAt(Pod pod, Set<String> services) {
        boolean own = services.contains(pod.founder().row().application());
        return switch (pod.phase()) {
            case SLEEPING -> 0;
            case PROTECTED -> own ? 0 : pod.sleepsAt();
            case RUNNING -> own ? pod.busyUntil() : Integer.MAX_VALUE;
            case GONE -> Integer.MAX_VALUE;
        };
    }

    private List<TrainingRun> active() {
        List<TrainingRun> active = new ArrayList<>();
        for (TrainingRun run : open) {
            if (run.row().second() <= clock) {
                active.add(run);
            }
        }
        return active;
    }

    private void schedule() {
        List<TrainingRun> active = active();
        if (clock % TICK == 0) {
            plan(active);
        } else {
            reclaim(active);
        }
    }

    /** Replicas without a GPU that do not sleep, and waiting requests, in the order of the workload. */
    private List<Needy> needy() {
        return Stream.concat(
                        pods.all()
                                .filter(pod -> !pod.isSleeping() && pod.node() == Pod.NOWHERE)
                                .map(pod -> new Needy(pod.founder(), Optional.of(pod))),
                        requests.waiting().stream().map(request -> new Needy(request, Optional.empty())))
                .sorted(Comparator.comparingInt(needy -> needy.request.index()))
                .toList();
    }

    private List<Needy> byService(List<Needy> needy) {
        return needy.stream()
                .sorted(Comparator.<Needy>comparingInt(one -> one.request.attainedGpuSeconds(clock))
                        .thenComparingInt(one -> one.request.row().second()))
                .toList();
    }

    private final class Needy implements Reclaim.Placeable {
        private final RequestBatchRun request;
        private final Optional<Pod> ghost;

        Needy(RequestBatchRun request, Optional<Pod> ghost) {
            this.request = request;
            this.ghost = ghost;
        }

        @Override
        public void place(int node) {
            if (ghost.isPresent()) {
                ghost.get().moveTo(node);
                return;
            }
            pods.add(new Pod(request, node));
            events.addIfAbsent(request.startCold(clock));
        }
    }

    /**
     * Finds GPUs for requests that need one. Even without any such request, the GPUs of every job are listed again by
     * node, which restarts jobs that were listed otherwise, and sleeping replicas that lost their GPU are forgotten.
     */
    private void reclaim(List<TrainingRun> active) {
        List<Needy> needy = byService(needy());
        Map<TrainingRun, int[]> next =
                needy.isEmpty() ? Map.of() : place(active, needy).nodes();
        pods.removeIf(pod -> pod.isSleeping() && pod.node() == Pod.NOWHERE);
        BitSet inferenceNodes = inferenceNodes();
        for (TrainingRun run : active) {
            int[] nodes = next.containsKey(run) ? next.get(run) : sorted(run.nodes());
            run.allocate(without(nodes, inferenceNodes), clock, pauses);
        }
    }

    private Reclaim place(List<TrainingRun> active, List<Needy> needy) {
        List<TrainingRun> jobs = active.stream()
                .sorted(Comparator.comparingLong(TrainingRun::attainedGpuSeconds)
                        .thenComparingInt(run -> run.row().second()))
                .toList();
        List<Pod> asleep =
                sleeping(true).stream().filter(pod -> pod.node() != Pod.NOWHERE).toList();
        List<Integer> serving = pods.all()
                .filter(pod -> !pod.isSleeping() && pod.node() != Pod.NOWHERE)
                .map(Pod::node)
                .toList();
        int tenants =
                active.size() + (int) pods.all().count() + requests.waiting().size();
        Reclaim reclaim = new Reclaim(settings, jobs, asleep, serving, List.copyOf(needy));
        reclaim.place(Speedups.over((settings.gpus() + tenants - 1) / tenants));
        return reclaim;
    }

    private static int[] sorted(int[] nodes) {
        for (int i = 1; i < nodes.length; i++) {
            if (nodes[i] < nodes[i - 1]) {
                int[] copy = nodes.clone();
                Arrays.sort(copy);
                return copy;
            }
        }
        return nodes;
    }

    /** Sleeping replicas, by the service they have had or in the order of the workload. */
    private List<Pod> sleeping(boolean byService) {
        Comparator<Pod> order = Comparator.comparingInt(pod -> pod.founder().index());
        if (byService) {
            order = Comparator.<Pod>comparingInt(pod -> pod.founder().attainedGpuSeconds(clock))
                    .thenComparingInt(pod -> pod.founder().row().second())
                    .thenComparing(order);
        }
        return pods.all().filter(Pod::isSleeping).sorted(order).toList();
    }

    private void plan(List<TrainingRun> active) {
        if (active.isEmpty()) {
            return;
        }
        List<Needy> needy = needy();
        BitSet inferenceNodes = new BitSet();
        int[] taken = taken(inferenceNodes);
        ClusterView view = shown.cluster(active, taken, needy.size(), clock);
        Plan plan = settings.policy().plan(view);
        Map<TrainingRun, int[]> next = targets(active, view, plan);
        if (port == Port.OPTIMUS) {
            next.replaceAll((run, nodes) -> without(nodes, inferenceNodes));
        }
        next.values().forEach(nodes -> Arrays.stream(nodes).forEach(node -> taken[node]++));
        for (int i = 0; i < plan.left().size(); i++) {
            int node = shown.node(plan.left().get(i));
            needy.get(i).place(node);
            taken[node]++;
        }
        keepAsleep(taken);
        BitSet forInference = inferenceNodes();
        next.forEach((run, nodes) -> run.allocate(without(nodes, forInference), clock, pauses));
    }

    /** GPUs of each node that replicas use, and the nodes of the second half on which they do. */
    private int[] taken(BitSet inferenceNodes) {
        int[] taken = new int[settings.nodes()];
        pods.all().filter(pod -> !pod.isSleeping() && pod.node() != Pod.NOWHERE).forEach(pod -> {
            taken[pod.node()]++;
            if (pod.node() >= settings.nodes() / 2) {
                inferenceNodes.set(pod.node());
            }
        });
        return taken;
    }

    /** The nodes of the GPUs that a plan has for each job. */
    private Map<TrainingRun, int[]> targets(List<TrainingRun> active, ClusterView view, Plan plan) {
        Map<JobId, List<GpuId>> held = new HashMap<>();
        view.jobs().forEach(job -> held.put(job.job(), job.gpus()));
        Map<TrainingRun, int[]> next = new HashMap<>();
        for (TrainingRun run : active) {
            List<GpuId> target = plan.targets().getOrDefault(run.id(), held.getOrDefault(run.id(), List.of()));
            next.put(run, shown.nodesOf(target));
            Optional.ofNullable(plan.standings().get(run.id())).ifPresent(run::standing);
        }
        return next;
    }

    /** Sleeping replicas stay where their node has room left, and lose their GPU elsewhere. */
    private void keepAsleep(int[] taken) {
        for (Pod pod : sleeping(port.tunesBatch())) {
            if (pod.node() != Pod.NOWHERE && taken[pod.node()] < settings.gpusPerNode()) {
                taken[pod.node()]++;
            } else {
                pod.moveTo(Pod.NOWHERE);
            }
        }
        if (port == Port.POLLUX) {
            pods.removeIf(pod -> pod.isSleeping() && pod.node() == Pod.NOWHERE);
        }
    }

    private static int[] without(int[] nodes, BitSet excluded) {
        return excluded.isEmpty()
                ? nodes
                : Arrays.stream(nodes).filter(node -> !excluded.get(node)).toArray();
    }

    /** Nodes on which training may have nothing; none where halves are not kept apart. */
    private BitSet inferenceNodes() {
        BitSet nodes = new BitSet();
        if (settings.halves()) {
            pods.all().filter(pod -> pod.node() != Pod.NOWHERE).forEach(pod -> nodes.set(pod.node()));
        }
        return nodes;
    }
}
