package io.lendstream.simulator;

import io.lendstream.core.actuation.NameExchange;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.DueKey;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The surroundings of a scheduler: jobs arrive and train on the GPUs they have, requests arrive and replicas answer
 * them. It moves on in virtual time, and takes decisions and actuation reports; reports may be a little older than its
 * time. Not for several threads.
 */
public final class World {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Workload workload;
    private final WorldSettings settings;
    private final GpuPlaces places = new GpuPlaces();
    private final GpuMeter meter;
    private final TreeMap<ServiceId, ServiceRun> services = new TreeMap<>();
    private final TreeMap<JobId, JobRun> active = new TreeMap<>();
    private final Map<JobId, JobRun> jobs = new HashMap<>();
    /** Active jobs that will have something to say, by when. */
    private final TreeMap<DueKey<JobId>, JobRun> speaking = new TreeMap<>();

    private final Map<JobId, DueKey<JobId>> speakAt = new HashMap<>();
    private final Map<DecisionId, Decision> decisions = new HashMap<>();
    private final Map<DecisionId, List<ActuationReport>> early = new HashMap<>();
    private final Map<GpuId, Instant> lentSince = new HashMap<>();
    private final List<ActuationReport> ofUnknownGpus = new ArrayList<>();
    private final List<Event> outbox = new ArrayList<>();
    private double lentGpuSeconds;
    private int submitted;
    private boolean announced;
    private Instant now;

    /** A world before anything has happened; its nodes are announced to it. */
    public World(Workload workload, WorldSettings settings) {
        if (workload.start().toEpochMilli() % MINUTE.toMillis() != 0) {
            throw new IllegalArgumentException(
                    "a workload must start on a whole minute, but starts at " + workload.start());
        }
        this.workload = workload;
        this.settings = settings;
        this.now = workload.start().minusMillis(1);
        Instant measured = workload.lastTrainingArrival().orElse(workload.demandEnd());
        this.meter = new GpuMeter(seconds(workload.start(), measured));
        for (ServiceLoad load : workload.loads()) {
            services.put(load.service().service(), run(load));
        }
    }

    private ServiceRun run(ServiceLoad load) {
        Instant start = workload.start();
        if (load.demand() instanceof Demand.Requests some) {
            return new RequestRun(load.service(), some.requests(), settings, places, meter, start);
        }
        Demand.Rates rates = (Demand.Rates) load.demand();
        return new RateRun(load.service(), rates, settings, places, meter, start, workload.end());
    }

    public Instant now() {
        return now;
    }

    /** The time of the next event if no decision is made. Empty when it is over. */
    public Optional<Instant> nextEventAt() {
        if (!outbox.isEmpty()) {
            return Optional.of(now);
        }
        if (!announced) {
            return Optional.of(workload.start());
        }
        if (finished()) {
            return Optional.empty();
        }
        Instant next = Instant.MAX;
        if (submitted < workload.tasks().size()) {
            next = workload.tasks().get(submitted).job().submittedAt();
        }
        for (ServiceRun service : services.values()) {
            next = earlier(next, service.nextEventAt());
        }
        if (!speaking.isEmpty()) {
            next = earlier(next, speaking.firstKey().at());
        }
        if (next.equals(Instant.MAX)) {
            return workload.demandEnd().isAfter(now) ? Optional.of(workload.demandEnd()) : Optional.empty();
        }
        return Optional.of(next.isBefore(now) ? now : next);
    }

    /**
     * Moves time on, and returns everything that happened after the last call and up to {@code to}, in the order of
     * time. A report that came late may have caused something a little earlier than that.
     */
    public List<Event> advance(Instant to) {
        if (to.isBefore(now)) {
            throw new IllegalArgumentException("time cannot go back from %s to %s".formatted(now, to));
        }
        List<Event> happened = new ArrayList<>(outbox);
        outbox.clear();
        if (!announced && !to.isBefore(workload.start())) {
            announced = true;
            happened.addAll(workload.queues());
            services.values().forEach(service -> happened.add(service.declared()));
        }
        while (submitted < workload.tasks().size()
                && !workload.tasks().get(submitted).job().submittedAt().isAfter(to)) {
            TrainingTask task = workload.tasks().get(submitted++);
            JobRun run = new JobRun(task, places, meter, settings, workload.start());
            jobs.put(task.job().job(), run);
            active.put(task.job().job(), run);
            reschedule(run);
            happened.add(task.job());
            happened.add(run.queued());
        }
        services.values().forEach(service -> service.goOn(to, happened::add));
        for (JobRun job : speakingUntil(to)) {
            job.advanceTo(to, happened::add);
            reschedule(job);
        }
        now = to;
        happened.sort(Comparator.comparing(Event::at));
        return happened;
    }

    /** Jobs that have something to say up to a time, by name. */
    private Collection<JobRun> speakingUntil(Instant to) {
        TreeMap<JobId, JobRun> due = new TreeMap<>();
        for (Map.Entry<DueKey<JobId>, JobRun> next : speaking.entrySet()) {
            if (next.getKey().at().isAfter(to)) {
                break;
            }
            due.put(next.getKey().what(), next.getValue());
        }
        return due.values();
    }

    /** Notes when a job speaks next, after anything has happened to it. */
    private void reschedule(JobRun job) {
        Optional.ofNullable(speakAt.remove(job.name())).ifPresent(speaking::remove);
        if (job.isOver()) {
            active.remove(job.name());
        }
        job.nextAt().ifPresent(at -> {
            DueKey<JobId> next = new DueKey<>(at, job.name());
            speakAt.put(job.name(), next);
            speaking.put(next, job);
        });
    }

    /** Learns of a node, and takes in the reports that came before it. */
    public void onNode(Node node) {
        places.learn(node);
        List<ActuationReport> waiting = List.copyOf(ofUnknownGpus);
        ofUnknownGpus.clear();
        waiting.forEach(this::onReport);
    }

    /** A node is gone, and with it all that ran on it, until it is announced again. */
    public void onNodeLost(NodeId node, Instant at) {
        List<GpuId> gone = places.on(node);
        gone.forEach(gpu -> unlend(gpu, at));
        services.values().forEach(service -> service.gone(gone, at));
        active.values().forEach(job -> {
            job.lost(gone, at, outbox::add);
            reschedule(job);
        });
    }

    /** Takes a decision, to which later reports refer. */
    public void onDecision(Decision decision) {
        if (decision.advisory() || decision.action().isHold()) {
            return;
        }
        decisions.put(decision.id(), decision);
        Optional.ofNullable(early.remove(decision.id())).ifPresent(reports -> reports.forEach(this::onReport));
    }

    /** Takes an actuation report; if a GPU's node is not known yet, the report waits for it. */
    public void onReport(ActuationReport report) {
        if (report.tenant().isEmpty()) {
            return;
        }
        if (!ofUnknownGpus.isEmpty() || !places.know(report.gpus())) {
            ofUnknownGpus.add(report);
            return;
        }
        boolean needsDecision = report.outcome() == Outcome.ACCEPTED;
        if (needsDecision && !decisions.containsKey(report.decision())) {
            early.computeIfAbsent(report.decision(), any -> new ArrayList<>()).add(report);
            return;
        }
        if (early.containsKey(report.decision())) {
            early.computeIfAbsent(report.decision(), any -> new ArrayList<>()).add(report);
            return;
        }
        report.tenant().flatMap(Tenant::jobId).map(jobs::get).ifPresent(job -> tell(job, report));
        report.tenant().flatMap(Tenant::serviceId).map(services::get).ifPresent(service -> tell(service, report));
        switch (report.outcome()) {
            case APPLIED, FAILED, TIMED_OUT, REJECTED -> decisions.remove(report.decision());
            default -> {}
        }
    }

    private void tell(JobRun job, ActuationReport report) {
        switch (report.outcome()) {
            case ACCEPTED ->
                Optional.ofNullable(decisions.get(report.decision()))
                        .flatMap(decision -> decision.action().jobChange())
                        .map(JobChange::allocation)
                        .ifPresent(allocation -> {
                            List<GpuId> gained = new ArrayList<>(report.gpus());
                            gained.retainAll(allocation.gpus());
                            gained.forEach(gpu -> lend(gpu, report.at()));
                            job.accepted(report.decision(), allocation, gained, report.at(), outbox::add);
                        });
            case RELEASED, FORCED -> {
                report.gpus().forEach(gpu -> unlend(gpu, report.at()));
                job.released(report.gpus(), report.at(), outbox::add);
            }
            case FAILED -> {
                report.gpus().forEach(gpu -> unlend(gpu, report.at()));
                job.failed(report.decision(), report.gpus(), report.at(), outbox::add);
            }
            case TIMED_OUT -> job.failed(report.decision(), List.of(), report.at(), outbox::add);
            case APPLIED -> job.applied(report.decision(), report.at(), outbox::add);
            case BOUND -> job.bound(report.gpus(), report.at(), outbox::add);
            case REJECTED, HOLDS, FOUND, UNKNOWN -> {}
        }
        reschedule(job);
    }

    private void tell(ServiceRun service, ActuationReport report) {
        switch (report.outcome()) {
            case ACCEPTED -> {
                Optional<Action> action =
                        Optional.ofNullable(decisions.get(report.decision())).map(Decision::action);
                action.flatMap(Action::asServe).filter(serve -> !serve.warm()).ifPresent(serve -> {
                    service.join(serve.replicas());
                    service.warming(serve.gpus(), report.at());
                });
                action.flatMap(Action::asServe)
                        .filter(Action.Serve::warm)
                        .ifPresent(serve -> service.wake(serve.gpus(), report.at()));
                action.flatMap(Action::asIdle).ifPresent(idle -> service.leaving(idle.gpus(), report.at()));
            }
            case BOUND -> service.bound(report.gpus(), report.at());
            case RELEASED, FORCED, FAILED -> service.gone(report.gpus(), report.at());
            case APPLIED, TIMED_OUT, REJECTED, HOLDS, FOUND, UNKNOWN -> {}
        }
    }

    /** A unit has this owner from now on, by the scheduler. Replicas that need time to wake may sleep. */
    public void onOwner(GpuId gpu, Owner owner, Instant at) {
        if (owner.isSleeping()) {
            owner.replicaOf().map(services::get).ifPresent(service -> service.sleep(gpu, at));
        }
    }

    /** Two units have each other's names in the reports from now on. */
    public void exchange(NameExchange names) {
        Optional<Instant> ofOne = Optional.ofNullable(lentSince.remove(names.one()));
        Optional<Instant> ofOther = Optional.ofNullable(lentSince.remove(names.other()));
        ofOne.ifPresent(since -> lentSince.put(names.other(), since));
        ofOther.ifPresent(since -> lentSince.put(names.one(), since));
        for (Tenant tenant : names.tenants()) {
            UnaryOperator<GpuId> renamed = unit -> names.renamed(tenant, unit);
            tenant.jobId().map(jobs::get).ifPresent(job -> job.rename(renamed));
            tenant.serviceId().map(services::get).ifPresent(service -> service.rename(renamed));
        }
    }

    private void lend(GpuId gpu, Instant at) {
        if (places.isInference(gpu)) {
            lentSince.putIfAbsent(gpu, at);
        }
    }

    private void unlend(GpuId gpu, Instant at) {
        Optional.ofNullable(lentSince.remove(gpu)).ifPresent(since -> lentGpuSeconds += gpuSeconds(gpu, since, at));
    }

    private double gpuSeconds(GpuId gpu, Instant from, Instant to) {
        return places.share(gpu) * seconds(from, to);
    }

    /** Whether all jobs are over, all requests answered, and the last series of rates at its end. */
    public boolean finished() {
        return announced
                && submitted == workload.tasks().size()
                && active.isEmpty()
                && !now.isBefore(workload.demandEnd())
                && services.values().stream().allMatch(ServiceRun::isIdle);
    }

    /** How many jobs are done, of how many. */
    public String progress() {
        long done = jobs.values().stream().filter(JobRun::isOver).count();
        return "%d of %d jobs done".formatted(done, workload.tasks().size());
    }

    /** How far it has got, from 0 to 1: the lesser of jobs done and demand past. */
    public double share() {
        double jobShare = 1;
        if (!workload.tasks().isEmpty()) {
            double done = jobs.values().stream().filter(JobRun::isOver).count();
            jobShare = done / workload.tasks().size();
        }
        double all = seconds(workload.start(), workload.demandEnd());
        double past = all > 0 ? seconds(workload.start(), now) / all : 1;
        return Math.max(0, Math.min(jobShare, Math.min(1, past)));
    }

    /** What came of it all so far. */
    public WorldResults results() {
        List<JobResult> jobResults = new ArrayList<>();
        for (TrainingTask task : workload.tasks()) {
            JobRun run = jobs.get(task.job().job());
            if (run != null) {
                jobResults.add(run.result(now));
            }
        }
        List<RequestResult> requests = services.values().stream()
                .flatMap(service -> service.requests().stream())
                .sorted(Comparator.comparing(RequestResult::completed).thenComparing(RequestResult::name))
                .toList();
        double stillLent = lentSince.entrySet().stream()
                .mapToDouble(loan -> gpuSeconds(loan.getKey(), loan.getValue(), now))
                .sum();
        return new WorldResults(
                workload.start(),
                now,
                jobResults,
                requests,
                services.values().stream().map(ServiceRun::result).toList(),
                places.gpus(),
                meter.computing(),
                Math.min(meter.measureUntil(), seconds(workload.start(), now)),
                lentGpuSeconds + stillLent,
                meter.rescaling(),
                OptionalDouble.of(meter.starting()),
                PlacedGpu.all(places));
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toMillis() / 1000.0;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }
}
