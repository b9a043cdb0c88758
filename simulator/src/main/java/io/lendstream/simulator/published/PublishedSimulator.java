package io.lendstream.simulator.published;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.state.GpuState;
import io.lendstream.simulator.workload.PolluxApplication;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One run of a published simulator, from event to event in whole seconds.
 *
 * <p>Every 60 s the policy plans training, and only that; requests that arrive then wait. At every other event only requests
 * are placed. Events are arrivals and ends of requests and, while requests wait, every second in which some replica sleeps or
 * one of their own service is protected.
 */
final class PublishedSimulator {
    private static final int TICK = 60;
    /** Seconds without anything to come in which some job must have trained. */
    private static final int PATIENCE = 86_400;

    private final PublishedSettings settings;
    private final Port port;
    private final Instant start;
    private final Pauses pauses;
    private final Pods pods;
    private final List<TrainingRun> trainings = new ArrayList<>();
    /** Training jobs that are not done, arrived or not. */
    private final List<TrainingRun> open = new ArrayList<>();

    private final List<RequestBatchRun> requests = new ArrayList<>();
    private final Map<TrainingRun, TruePace> paces = new LinkedHashMap<>();
    private final TreeMap<Integer, Boolean> events = new TreeMap<>();
    private final List<List<GpuState>> gpus = new ArrayList<>();
    private final Map<GpuId, Integer> nodeOf = new HashMap<>();
    private final TreeMap<Integer, RequestBatchRun> unfinished = new TreeMap<>();
    private int lastArrival;
    private int arrivedRequests;
    private int clock;
    private int busyAt;
    private double computing;
    private double onSecondHalf;

    PublishedSimulator(PublishedWorkload workload, Path traces, PublishedSettings settings, Instant start) {
        this.settings = settings;
        this.port = Port.of(settings.policy());
        this.start = start;
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
            events.put(row.second(), row.duration() > 0);
        }
        open.addAll(trainings);
        for (int node = 0; node < settings.nodes(); node++) {
            gpus.add(gpusOf(node));
        }
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
        paces.put(run, new TruePace(run, row.batch(), settings.gpusPerNode()));
        return run;
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

    /** Runs a workload to its end. */
    static PublishedRun run(PublishedWorkload workload, Path traces, PublishedSettings settings, Instant start) {
        PublishedSimulator simulator = new PublishedSimulator(workload, traces, settings, start);
        while (!simulator.isOver()) {
            simulator.step();
        }
        return simulator.outcome();
    }

    PublishedRun outcome() {
        return new PublishedRun(trainings, requests, computing, onSecondHalf);
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
        serve();
        schedule();
        endsSometime();
    }

    /**
     * Where a job never gets a GPU, the published simulators run on for ever: it asks for more than there are, or is only ever
     * given GPUs that it loses to replicas asleep ({@link PublishedSettings#halves}).
     */
    private void endsSometime() {
        if (arrivedRequests < requests.size() || !unfinished.isEmpty() || clock < lastArrival) {
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
        return arrivedRequests == requests.size() && unfinished.isEmpty() && open.isEmpty();
    }

    private int nextEvent() {
        int next = (clock / TICK + 1) * TICK;
        Map.Entry<Integer, Boolean> event = events.higherEntry(clock);
        while (event != null && event.getKey() < next) {
            if (event.getValue()) {
                next = event.getKey();
            }
            event = events.higherEntry(event.getKey());
        }
        List<RequestBatchRun> waiting = waiting();
        if (!waiting.isEmpty()) {
            Set<String> services = new java.util.HashSet<>();
            waiting.forEach(request -> services.add(request.row().application()));
            int wanted =
                    pods.all().mapToInt(pod -> wakesAt(pod, services)).min().orElse(Integer.MAX_VALUE);
            next = Math.min(next, Math.max(isForgotten() ? 0 : wanted, clock + 1));
        }
        return next;
    }

    /**
     * Whether waiting requests would never be looked at again: those that have arrived at a tick, where nothing but ticks is to
     * come. The published simulators run on for ever then. Here the next second is an event.
     */
    private boolean isForgotten() {
        return pods.all().findAny().isEmpty() && !events.tailMap(clock, false).containsValue(true);
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

    private List<RequestBatchRun> waiting() {
        return unfinished.isEmpty()
                ? List.of()
                : unfinished.values().stream()
                        .filter(RequestBatchRun::isWaiting)
                        .toList();
    }

    /** Lets requests look for warm replicas and replicas come up, in the order of the workload. */
    private void serve() {
        while (arrivedRequests < requests.size()
                && requests.get(arrivedRequests).row().second() <= clock) {
            RequestBatchRun request = requests.get(arrivedRequests++);
            unfinished.put(request.index(), request);
        }
        List<RequestBatchRun> done = new ArrayList<>();
        for (RequestBatchRun request : unfinished.values()) {
            if (request.isWaiting()) {
                pods.warm(request.row().application()).ifPresent(pod -> {
                    request.startWarm(clock);
                    pod.serve(request.completed());
                    events.put(request.completed(), true);
                    done.add(request);
                });
            } else if (request.isUp(clock)) {
                request.completes();
                Pod pod = podOf(request);
                pod.busyUntil(request.completed());
                if (request.completed() <= clock) {
                    pods.served(pod, clock);
                }
                done.add(request);
            }
        }
        done.forEach(request -> unfinished.remove(request.index()));
        pods.removeIf(Pod::isGone);
    }

    private Pod podOf(RequestBatchRun founder) {
        return pods.all().filter(pod -> pod.founder() == founder).findFirst().orElseThrow();
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
                        waiting().stream().map(request -> new Needy(request, Optional.empty())))
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
            events.putIfAbsent(request.startCold(clock), true);
        }
    }

    /**
     * Finds GPUs for whoever needs one. Even where nobody does, every job's GPUs are listed anew by node, which restarts those
     * that were listed otherwise, and replicas that have lost their GPU in their sleep are forgotten.
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
        int tenants = active.size() + (int) pods.all().count() + waiting().size();
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
        int[] taken = new int[settings.nodes()];
        pods.all().filter(pod -> !pod.isSleeping() && pod.node() != Pod.NOWHERE).forEach(pod -> {
            taken[pod.node()]++;
            if (pod.node() >= settings.nodes() / 2) {
                inferenceNodes.set(pod.node());
            }
        });
        ClusterView view = view(active, taken, needy.size());
        Plan plan = settings.policy().plan(view);
        Map<JobId, List<GpuId>> held = new HashMap<>();
        view.jobs().forEach(job -> held.put(job.job(), job.gpus()));
        Map<TrainingRun, int[]> next = new HashMap<>();
        for (TrainingRun run : active) {
            List<GpuId> target = plan.targets().getOrDefault(run.id(), held.getOrDefault(run.id(), List.of()));
            int[] nodes = nodesOf(target);
            if (port == Port.OPTIMUS) {
                nodes = without(nodes, inferenceNodes);
            }
            next.put(run, nodes);
            for (int node : nodes) {
                taken[node]++;
            }
            Optional.ofNullable(plan.standings().get(run.id())).ifPresent(run::standing);
        }
        for (int i = 0; i < plan.left().size(); i++) {
            int node = nodeOf.get(plan.left().get(i));
            needy.get(i).place(node);
            taken[node]++;
        }
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
        BitSet forInference = inferenceNodes();
        next.forEach((run, nodes) -> run.allocate(without(nodes, forInference), clock, pauses));
    }

    /** The node of each GPU, those of one node together: policies that keep a job near to where it is list them mixed. */
    private int[] nodesOf(List<GpuId> target) {
        Map<Integer, Integer> gpusByNode = new LinkedHashMap<>();
        target.forEach(gpu -> gpusByNode.merge(nodeOf.get(gpu), 1, Integer::sum));
        return gpusByNode.entrySet().stream()
                .flatMapToInt(node -> IntStream.generate(node::getKey).limit(node.getValue()))
                .toArray();
    }

    private ClusterView view(List<TrainingRun> active, int[] taken, int waiting) {
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
                run.row().replicas(),
                1,
                port.largest(run.row(), run.trace().application(), settings.gpus()),
                true,
                held,
                run.largestRun(),
                run.restarts(),
                run.attainedGpuSeconds(),
                run.batches().goodput(),
                paces.get(run),
                run.standing(),
                settings.afe() ? costs : costs.withoutAfe());
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
