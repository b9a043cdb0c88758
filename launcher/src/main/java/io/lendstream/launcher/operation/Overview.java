package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What can be seen of a deployment from outside, as records tell it: who has which GPU, and why. */
final class Overview {
    private static final int DECISIONS_SHOWN = 10;
    private static final int STALE_WINDOWS = 3;
    /** From a decision to a replica that answers, besides its warm-up: the usual notice. */
    private static final Duration NOTICE = Duration.ofSeconds(45);

    private final EventReader reader = new EventReader();
    private final SortedMap<GpuId, Lease> leases = new TreeMap<>();
    private final SortedMap<ServiceId, ServiceState> services = new TreeMap<>();
    private final Map<ServiceId, List<Event>> early = new HashMap<>();
    private final SortedMap<JobId, JobState> jobs = new TreeMap<>();
    private final Map<JobId, TrainingProgress> progress = new HashMap<>();
    private final SortedMap<DomainId, SortedMap<String, Boolean>> modes = new TreeMap<>();
    private final Deque<Decision> decisions = new ArrayDeque<>();
    private Optional<Instant> virtualNow = Optional.empty();

    /** Takes a record of any topic that is watched. */
    void tell(Object record) {
        if (record instanceof Lease lease) {
            leases.put(lease.gpuId(), lease);
        } else if (record instanceof Event event) {
            event.match(reader).run();
            event.asCommand().ifPresent(this::tell);
        } else if (record instanceof Decision decision) {
            decisions.addLast(decision);
            if (decisions.size() > DECISIONS_SHOWN) {
                decisions.removeFirst();
            }
        } else if (record instanceof Progress got && got.isOf(ServiceName.ENVIRONMENT)) {
            virtualNow = Optional.of(got.eventTime());
        }
    }

    /** A GPU instance was destroyed. */
    void gone(GpuId gpu) {
        leases.remove(gpu);
    }

    private void tell(InferenceService service) {
        services.merge(service.service(), ServiceState.of(service), (known, fresh) -> known.describedBy(service));
        List<Event> waiting = early.remove(service.service());
        if (waiting != null) {
            waiting.forEach(this::tell);
        }
    }

    private void tell(TrainingProgress said) {
        progress.put(said.job(), said);
        jobs.computeIfPresent(said.job(), (name, known) -> known.observed(said, 0));
    }

    /** What is told of a service before the service itself waits for it: topics come in no order. */
    private void tell(RequestRate rate) {
        ServiceState known = services.get(rate.service());
        if (known == null) {
            early.computeIfAbsent(rate.service(), name -> new ArrayList<>()).add(rate);
        } else if (!known.hasSeen(rate)) {
            services.put(rate.service(), known.observed(rate, 0));
        }
    }

    private void tell(DemandForecast forecast) {
        ServiceState known = services.get(forecast.service());
        if (known == null) {
            early.computeIfAbsent(forecast.service(), name -> new ArrayList<>()).add(forecast);
        } else {
            services.put(forecast.service(), known.expecting(forecast, 0));
        }
    }

    private void tell(ControlCommand command) {
        SortedMap<String, Boolean> mode = modes.computeIfAbsent(command.domain(), domain -> new TreeMap<>());
        switch (command.kind()) {
            case FREEZE -> mode.put("frozen", true);
            case THAW -> {
                mode.put("frozen", false);
                mode.put("lending stopped", false);
            }
            case ADVISORY_ON -> mode.put("advisory", true);
            case ADVISORY_OFF -> mode.put("advisory", false);
            case RECLAIM_ALL -> mode.put("lending stopped", true);
            case APPROVE, RESET, UNKNOWN -> {}
        }
    }

    /** The time to judge by: that of an accelerated run, where there is one. */
    Instant now(Instant wallClock, boolean virtual) {
        return virtual ? virtualNow.orElse(wallClock) : wallClock;
    }

    /** What somebody should see to. */
    List<String> alarms(Instant now) {
        List<String> alarms = new ArrayList<>();
        modes.forEach((domain, mode) -> mode.forEach((name, on) -> {
            if (on) {
                alarms.add("domain %s: %s, as ordered".formatted(domain, name));
            }
        }));
        leases.values().stream()
                .filter(lease -> lease.owner().isQuarantined())
                .forEach(lease -> alarms.add("%s: %s".formatted(lease.gpuId(), EventText.of(lease.owner()))));
        services.values().stream()
                .filter(service -> isStale(service, now))
                .forEach(service -> alarms.add("service %s: %s"
                        .formatted(
                                service.spec().service(),
                                service.lastRateAt()
                                        .map(at -> "nothing heard since " + EventText.clock(at))
                                        .orElse("nothing heard yet"))));
        return alarms;
    }

    private static boolean isStale(ServiceState service, Instant now) {
        Duration bound = service.window().multipliedBy(STALE_WINDOWS);
        return service.lastRateAt().map(at -> at.plus(bound).isBefore(now)).orElse(true);
    }

    /** For people, the most pressing first. */
    List<String> lines(Instant now) {
        List<String> lines = new ArrayList<>();
        SortedMap<String, Integer> owners = new TreeMap<>();
        leases.values().forEach(lease -> owners.merge(lease.owner().label(), 1, Integer::sum));
        lines.add("%s  %d GPUs: %s".formatted(EventText.clock(now), leases.size(), counted(owners)));
        section(lines, "ALARMS", alarms(now));
        section(
                lines,
                "SERVICES",
                services.values().stream().map(service -> line(service, now)).toList());
        section(lines, "JOBS", shownJobs().stream().map(this::line).toList());
        List<String> last = new ArrayList<>();
        decisions
                .descendingIterator()
                .forEachRemaining(decision -> last.add("%s  %s%s: %s, because %s"
                        .formatted(
                                EventText.clock(decision.at()),
                                decision.id(),
                                decision.advisory() ? " (advice)" : "",
                                EventText.of(decision.action()),
                                decision.reason().text())));
        section(lines, "LAST DECISIONS", last);
        section(
                lines,
                "GPUS",
                leases.values().stream()
                        .map(lease ->
                                "%-24s %-16s %s".formatted(lease.gpuId(), lease.nodeId(), EventText.of(lease.owner())))
                        .toList());
        return lines;
    }

    private static void section(List<String> lines, String title, List<String> content) {
        if (!content.isEmpty()) {
            lines.add("");
            lines.add(title);
            content.forEach(line -> lines.add("  " + line));
        }
    }

    private static String counted(SortedMap<String, Integer> owners) {
        return owners.isEmpty()
                ? "none"
                : String.join(
                        ", ",
                        owners.entrySet().stream()
                                .map(entry -> entry.getValue() + " " + entry.getKey())
                                .toList());
    }

    private String line(ServiceState service, Instant now) {
        ReplicaNeed need = need(service, now);
        return "%-20s %8.1f requests/s%s  needs %d (%d now, %d ahead), %d serve, %d warm, %d start"
                .formatted(
                        service.spec().service(),
                        service.arrivalsPerSecond(),
                        peak(service)
                                .map(most -> ", 99 %% under %.1f ahead%s"
                                        .formatted(
                                                most,
                                                gpus(service)
                                                        .map(all -> ", " + Reason.counted(all, "GPU"))
                                                        .orElse("")))
                                .orElse(""),
                        need.replicas(),
                        need.now(),
                        need.ahead(),
                        replicas(service, Set.of("serving")),
                        replicas(service, Set.of("protected", "sleeping")),
                        replicas(service, Set.of("binding")));
    }

    private static ReplicaNeed need(ServiceState service, Instant now) {
        return ReplicaNeed.of(service, now, NOTICE.plus(service.spec().warmUp()), true);
    }

    private static Optional<Double> peak(ServiceState service) {
        return service.forecast()
                .map(forecast -> forecast.horizons().stream()
                        .mapToDouble(HorizonQuantiles::p99)
                        .max()
                        .orElse(0));
    }

    /** The most GPUs that its forecast names, for p99 at any horizon. */
    private static Optional<Integer> gpus(ServiceState service) {
        return service.forecast().stream()
                .flatMap(forecast -> forecast.horizons().stream())
                .flatMap(at -> at.gpus().stream())
                .map(GpuQuantiles::p99)
                .max(Comparator.naturalOrder());
    }

    private long replicas(ServiceState service, Set<String> labels) {
        Tenant tenant = new Tenant.Service(service.spec().service());
        return leases.values().stream()
                .filter(lease -> labels.contains(lease.owner().label())
                        && lease.owner().holder().filter(tenant::equals).isPresent())
                .count();
    }

    /** Those that are not over, and those that hold GPUs still. */
    private List<JobState> shownJobs() {
        Set<JobId> holding = leases.values().stream()
                .flatMap(lease -> lease.owner().holdingJob().stream())
                .collect(Collectors.toCollection(TreeSet::new));
        return jobs.values().stream()
                .filter(job -> !job.isOver() || holding.contains(job.spec().job()))
                .toList();
    }

    private String line(JobState job) {
        Held held = held(job);
        return "%-20s %-9s %s, %d lent%s%s"
                .formatted(
                        job.spec().job(),
                        phase(job),
                        Reason.counted(held.gpus, "GPU"),
                        held.lent,
                        held.gpus == 0 ? "" : ", goodput %.1f samples/s".formatted(goodput(job, held)),
                        Optional.ofNullable(progress.get(job.spec().job()))
                                .map(said -> ", %.0f iterations done".formatted(said.progress()))
                                .orElse(""));
    }

    /**
     * What a job has.
     *
     * @param nodes on how many nodes
     */
    private record Held(int gpus, int lent, int nodes) {}

    private Held held(JobState job) {
        Tenant tenant = new Tenant.Job(job.spec().job());
        List<Lease> mine = leases.values().stream()
                .filter(lease -> lease.owner().isUp())
                .filter(lease -> lease.owner().holder().filter(tenant::equals).isPresent())
                .toList();
        int lent = (int) mine.stream().filter(lease -> lease.owner().isLent()).count();
        int nodes = (int) mine.stream().map(Lease::nodeId).distinct().count();
        return new Held(mine.size(), lent, nodes);
    }

    /** As its profile and its steps so far have it. */
    private static double goodput(JobState job, Held held) {
        return job.model().best(held.nodes, held.gpus).goodput();
    }

    private String phase(JobState job) {
        TrainingProgress said = progress.get(job.spec().job());
        return EventText.lower(said == null ? JobPhase.QUEUED : said.phase());
    }

    /** For tools. */
    ObjectNode json(Instant now) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("at", now.toString());
        ArrayNode alarms = json.putArray("alarms");
        alarms(now).forEach(alarms::add);
        putGpus(json.putArray("gpus"));
        putServices(json.putArray("services"), now);
        putJobs(json.putArray("jobs"));
        ArrayNode last = json.putArray("decisions");
        decisions.forEach(decision -> last.add(Explained.json(decision)));
        return json;
    }

    private void putGpus(ArrayNode gpus) {
        leases.values().forEach(lease -> {
            ObjectNode gpu = gpus.addObject()
                    .put("gpu", lease.gpuId().value())
                    .put("node", lease.nodeId().value())
                    .put("domain", lease.domain().value())
                    .put("pool", EventText.lower(lease.pool()))
                    .put("owner", lease.owner().label())
                    .put("since", lease.since().toString())
                    .put("words", EventText.of(lease.owner()));
            lease.owner().holder().ifPresent(tenant -> put(gpu, tenant));
        });
    }

    private void putServices(ArrayNode lines, Instant now) {
        services.values().forEach(service -> {
            ReplicaNeed need = need(service, now);
            ObjectNode line = lines.addObject()
                    .put("service", service.spec().service().value())
                    .put("requestsPerSecond", service.arrivalsPerSecond())
                    .put("needed", need.replicas())
                    .put("neededNow", need.now())
                    .put("neededAhead", need.ahead())
                    .put("serving", replicas(service, Set.of("serving")))
                    .put("warm", replicas(service, Set.of("protected", "sleeping")))
                    .put("starting", replicas(service, Set.of("binding")))
                    .put("stale", isStale(service, now));
            peak(service).ifPresent(most -> line.put("forecastP99PerSecond", most));
            gpus(service).ifPresent(most -> line.put("forecastP99Gpus", most));
        });
    }

    private void putJobs(ArrayNode all) {
        shownJobs().forEach(job -> {
            Held held = held(job);
            ObjectNode one = all.addObject()
                    .put("job", job.spec().job().value())
                    .put("phase", phase(job))
                    .put("gpus", held.gpus)
                    .put("lent", held.lent);
            if (held.gpus > 0) {
                one.put("goodputSamplesPerSecond", goodput(job, held));
            }
        });
    }

    private static void put(ObjectNode gpu, Tenant tenant) {
        tenant.match(Tenant.Cases.of(
                job -> gpu.put("job", job.job().value()),
                service -> gpu.put("service", service.service().value())));
    }

    /** Takes what is shown of services and jobs. */
    private final class EventReader extends WorkloadReader {
        @Override
        public Runnable service(InferenceService service) {
            return () -> tell(service);
        }

        @Override
        public Runnable rate(RequestRate rate) {
            return () -> tell(rate);
        }

        @Override
        public Runnable job(TrainingJob job) {
            return () -> jobs.merge(job.job(), JobState.of(job, 0), (known, fresh) -> known.described(job, 0));
        }

        @Override
        public Runnable progress(TrainingProgress progress) {
            return () -> tell(progress);
        }

        @Override
        public Runnable forecast(DemandForecast forecast) {
            return () -> tell(forecast);
        }
    }
}
