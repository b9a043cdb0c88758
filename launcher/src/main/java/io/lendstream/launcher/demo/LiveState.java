package io.lendstream.launcher.demo;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The state of a demo, read from its topics. One thread adds records; another draws snapshots. */
final class LiveState {
    private static final int DECISIONS_SHOWN = 6;
    private static final Groups GROUPS = new Groups();

    private final EventReader reader = new EventReader();
    private final GpuNames names = new GpuNames();
    private final Map<GpuId, Lease> owners = new TreeMap<>();
    private final Map<GpuId, Instant> lentSince = new HashMap<>();
    private final Map<ServiceId, InferenceService> services = new TreeMap<>();
    private final Map<ServiceId, RequestRate> rates = new HashMap<>();
    private final Map<ServiceId, DemandForecast> forecasts = new HashMap<>();
    private final Map<JobId, JobPhase> jobs = new TreeMap<>();
    private final Map<String, Integer> decisions = new TreeMap<>();
    private final Deque<Decision> last = new ArrayDeque<>();
    private Optional<Instant> started = Optional.empty();
    private Optional<Instant> now = Optional.empty();
    private Duration lent = Duration.ZERO;

    synchronized void tell(Object record) {
        if (record instanceof Lease lease) {
            tell(lease);
        } else if (record instanceof Event event) {
            event.asNode().ifPresent(names::take);
            event.match(reader).run();
        } else if (record instanceof Decision decision) {
            tell(decision);
        } else if (record instanceof Progress progress && progress.isOf(ServiceName.ENVIRONMENT)) {
            started = started.or(() -> Optional.of(progress.eventTime()));
            now = Optional.of(progress.eventTime());
        }
    }

    private void tell(Lease lease) {
        owners.put(lease.gpuId(), lease);
        boolean isLent = lease.owner().isLent();
        if (isLent) {
            lentSince.putIfAbsent(lease.gpuId(), lease.since());
        } else if (lentSince.containsKey(lease.gpuId())) {
            lent = lent.plus(Duration.between(lentSince.remove(lease.gpuId()), lease.since()));
        }
    }

    private void tell(Decision decision) {
        decisions.merge(decision.countedAs(), 1, Integer::sum);
        if (decision.action().asRenew().isPresent()) {
            return;
        }
        last.addLast(decision);
        if (last.size() > DECISIONS_SHOWN) {
            last.removeFirst();
        }
    }

    synchronized Snapshot snapshot() {
        Map<String, Integer> labels = new TreeMap<>();
        int lentGpus = 0;
        for (Lease lease : owners.values()) {
            labels.merge(group(lease), 1, Integer::sum);
            lentGpus += lease.owner().isLent() ? 1 : 0;
        }
        Map<String, Integer> phases = new TreeMap<>();
        jobs.values().forEach(phase -> phases.merge(group(phase), 1, Integer::sum));
        List<ServiceLine> lines = services.keySet().stream().map(this::line).toList();
        Instant until = now.orElse(Instant.EPOCH);
        Duration running = Duration.ZERO;
        for (Instant since : lentSince.values()) {
            running = since.isBefore(until) ? running.plus(Duration.between(since, until)) : running;
        }
        return new Snapshot(
                started,
                now,
                labels,
                lentGpus,
                lent.plus(running),
                lines,
                phases,
                Map.copyOf(decisions),
                last.stream().map(this::named).toList(),
                strips());
    }

    /** The decision with short names of GPUs in its reason. */
    private Decision named(Decision decision) {
        Reason reason = decision.reason();
        return new Decision(
                decision.id(),
                decision.at(),
                decision.deadline(),
                decision.advisory(),
                new Reason(reason.code(), names.in(reason.text()), reason.numbers(), reason.inputs()),
                decision.action());
    }

    /** The GPUs of each node by index. */
    private List<NodeStrip> strips() {
        Map<NodeId, List<GpuId>> byNode = new HashMap<>();
        owners.values()
                .forEach(lease -> byNode.computeIfAbsent(lease.nodeId(), node -> new ArrayList<>())
                        .add(lease.gpuId()));
        return byNode.entrySet().stream()
                .sorted(Comparator.comparing(node -> GpuNames.sortable(node.getKey())))
                .map(node -> new NodeStrip(
                        node.getKey(),
                        node.getValue().stream()
                                .sorted(names.order())
                                .flatMap(gpu -> Stream.ofNullable(owners.get(gpu)))
                                .map(LiveState::group)
                                .toList()))
                .toList();
    }

    private ServiceLine line(ServiceId name) {
        Optional<RequestRate> rate = Optional.ofNullable(rates.get(name));
        Optional<DemandForecast> forecast = Optional.ofNullable(forecasts.get(name));
        Set<String> replicas = new HashSet<>();
        for (Lease lease : owners.values()) {
            if (lease.owner().isServing()
                    && lease.owner().replicaOf().filter(name::equals).isPresent()) {
                replicas.add(lease.part()
                        .map(part -> part.replica().value())
                        .orElse(lease.gpuId().value()));
            }
        }
        return new ServiceLine(
                name,
                rate.map(RequestRate::arrivalsPerSecond).orElse(0.0),
                rate.map(latest -> latest.requests().queueDepth()).orElse(0),
                replicas.size(),
                forecast.map(ahead ->
                        ahead.horizons().get(ahead.horizons().size() - 1).p50()),
                forecast.map(ahead ->
                        ahead.horizons().get(ahead.horizons().size() - 1).p99()));
    }

    /** The group of a GPU by the use it has. */
    static String group(Lease lease) {
        return lease.owner().match(GROUPS);
    }

    private static String group(JobPhase phase) {
        return switch (phase) {
            case RUNNING, RESCALING -> "running";
            case FINISHED -> "done";
            case FAILED, CANCELLED -> "failed";
            case QUEUED, PAUSED, UNKNOWN -> "queued";
        };
    }

    /** The number of GPUs in a pool. */
    synchronized int gpus(Pool pool) {
        return (int)
                owners.values().stream().filter(lease -> lease.pool() == pool).count();
    }

    /** A service at a glance; the forecast is that of the farthest horizon. */
    record ServiceLine(
            ServiceId name,
            double requestsPerSecond,
            int queueDepth,
            int replicas,
            Optional<Double> p50,
            Optional<Double> p99) {}

    /** The groups of a node's GPUs, in the order of their indexes. */
    record NodeStrip(NodeId node, List<String> groups) {}

    /**
     * The state at one moment.
     *
     * @param owners GPUs by use
     * @param lentTime GPU time lent so far
     * @param jobs jobs by phase
     * @param decisions decisions by kind; those that release the GPUs of an ended job are counted apart
     * @param last the last decisions, oldest first
     * @param nodes the GPUs of each node
     */
    record Snapshot(
            Optional<Instant> started,
            Optional<Instant> now,
            Map<String, Integer> owners,
            int lentGpus,
            Duration lentTime,
            List<ServiceLine> services,
            Map<String, Integer> jobs,
            Map<String, Integer> decisions,
            List<Decision> last,
            List<NodeStrip> nodes) {

        int owned(String group) {
            return owners.getOrDefault(group, 0);
        }

        int jobs(String group) {
            return jobs.getOrDefault(group, 0);
        }

        int decided(String kind) {
            return decisions.getOrDefault(kind, 0);
        }

        double gpuHoursLent() {
            return lentTime.toMillis() / 3_600_000.0;
        }
    }

    /** Applies events of services and jobs. */
    private final class EventReader extends WorkloadReader {
        @Override
        public Runnable service(InferenceService service) {
            return () -> services.put(service.service(), service);
        }

        @Override
        public Runnable rate(RequestRate rate) {
            return () -> rates.put(rate.service(), rate);
        }

        @Override
        public Runnable job(TrainingJob job) {
            return () -> jobs.putIfAbsent(job.job(), JobPhase.QUEUED);
        }

        @Override
        public Runnable progress(TrainingProgress progress) {
            return () -> jobs.put(progress.job(), progress.phase());
        }

        @Override
        public Runnable forecast(DemandForecast forecast) {
            return () -> forecasts.put(forecast.service(), forecast);
        }
    }

    private static final class Groups implements Owner.Cases<String> {
        @Override
        public String free(Owner.Free free) {
            return free.label();
        }

        @Override
        public String binding(Owner.Binding binding) {
            return binding.tenant().match(Tenant.Cases.of(job -> "moving", service -> "starting"));
        }

        @Override
        public String lent(Owner.Lent lent) {
            return lent.label();
        }

        @Override
        public String training(Owner.Training training) {
            return training.label();
        }

        @Override
        public String serving(Owner.Serving serving) {
            return serving.label();
        }

        @Override
        public String protectedReplica(Owner.Protected replica) {
            return "warm";
        }

        @Override
        public String sleeping(Owner.Sleeping sleeping) {
            return "warm";
        }

        @Override
        public String releasing(Owner.Releasing releasing) {
            return "moving";
        }

        @Override
        public String recutting(Owner.Recutting recutting) {
            return "moving";
        }

        @Override
        public String quarantined(Owner.Quarantined quarantined) {
            return quarantined.label();
        }
    }
}
