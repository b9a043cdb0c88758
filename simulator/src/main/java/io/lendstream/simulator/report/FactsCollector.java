package io.lendstream.simulator.report;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.report.ReportedRun.Course;
import io.lendstream.simulator.report.ReportedRun.Figures;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Period;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Collects the facts of a run from its records, one by one, roughly in the order of time. Its memory grows with the
 * number of GPUs, jobs and services, not with the length of the run.
 *
 * <p>Not safe for use by several threads at once.
 */
public final class FactsCollector {
    private static final int MOST_SERVICES = 200;

    private final String name;
    private final boolean lending;
    private final Duration forecastLead;

    private Optional<Instant> start = Optional.empty();
    private Instant now = Instant.MIN;

    private final EventReader reader = new EventReader();
    private final OwnersWatch owners = new OwnersWatch(this::watch);
    private final LoansWatch loans = new LoansWatch();
    private final JobsWatch jobs = new JobsWatch();
    private final DecisionsWatch decisions = new DecisionsWatch();

    private final Map<ServiceId, ServiceWatch> services = new TreeMap<>();
    private final Set<ServiceId> servicesSeen = new HashSet<>();
    private long requests;

    /**
     * Begins with nothing seen.
     *
     * @param name what tells the run from others: {@code lendstream, lending on}
     */
    public FactsCollector(String name, boolean lending) {
        this(name, lending, Duration.ofMinutes(2));
    }

    /**
     * Begins with nothing seen.
     *
     * @param forecastLead forecasts are shown at their first horizon that reaches this far ahead
     */
    public FactsCollector(String name, boolean lending, Duration forecastLead) {
        this.name = name;
        this.lending = lending;
        this.forecastLead = forecastLead;
    }

    /** Takes the events it needs, and ignores the others. */
    public void take(Event event) {
        event.match(reader).run();
    }

    public void take(Lease lease) {
        Owner owner = lease.owner();
        OwnerGroup group = OwnerGroup.of(owner);
        Optional<ServiceId> service = owner.isServing() ? owner.replicaOf() : Optional.empty();
        hold(lease.gpuId(), Optional.of(group), service, lease.since());
        loans.take(lease);
    }

    /** A GPU that has no owner any more because it is gone: its lease record was deleted. */
    public void gone(GpuId gpu, Instant at) {
        hold(gpu, Optional.empty(), Optional.empty(), at);
        loans.gone(gpu, at);
    }

    private void hold(GpuId gpu, Optional<OwnerGroup> group, Optional<ServiceId> service, Instant at) {
        seenAt(at);
        owners.hold(gpu, group, service, at);
    }

    public void take(RequestRate rate) {
        seenAt(rate.windowEnd());
        start = start.map(at -> at.isAfter(rate.windowStart()) ? rate.windowStart() : at);
        Optional<ServiceWatch> watch = watch(rate.service());
        if (watch.isEmpty() || watch.get().take(rate)) {
            requests += rate.requests().arrivals();
        }
    }

    public void take(DemandForecast forecast) {
        seenAt(forecast.issuedAt());
        watch(forecast.service()).ifPresent(watch -> watch.take(forecast, forecastLead));
    }

    public void take(InferenceService service) {
        watch(service.service()).ifPresent(watch -> watch.take(service));
    }

    public void take(TrainingJob job) {
        seenAt(job.submittedAt());
        jobs.take(job);
    }

    public void take(TrainingProgress progress) {
        seenAt(progress.at());
        jobs.take(progress);
    }

    public void take(Decision decision) {
        seenAt(decision.at());
        decisions.take(decision);
        if (!decision.advisory()) {
            decision.action().jobChange().ifPresent(jobs::take);
        }
    }

    /** Notes that time has come so far, though nothing may have happened. */
    public void seenAt(Instant at) {
        now = at.isAfter(now) ? at : now;
        start = Optional.of(start.filter(earliest -> !earliest.isAfter(at)).orElse(at));
    }

    private Optional<ServiceWatch> watch(ServiceId service) {
        servicesSeen.add(service);
        Optional<ServiceWatch> known = Optional.ofNullable(services.get(service));
        if (known.isPresent() || services.size() >= MOST_SERVICES) {
            return known;
        }
        ServiceWatch fresh = new ServiceWatch(service);
        services.put(service, fresh);
        return Optional.of(fresh);
    }

    /** What has been seen so far; more may be taken afterwards. */
    public ReportedRun facts() {
        owners.upTo(now);
        services.values().forEach(watch -> watch.upTo(now));
        long width = owners.widthMillis(decisions.widthMillis());
        for (ServiceWatch watch : services.values()) {
            width = Math.max(width, watch.widthMillis());
        }
        long sampleMillis = width;
        return new ReportedRun(
                name,
                lending,
                new Period(
                        start.orElse(Instant.EPOCH),
                        start.isPresent() ? now : Instant.EPOCH,
                        Duration.ofMillis(sampleMillis)),
                new Course(
                        owners.owners(sampleMillis),
                        services.values().stream()
                                .map(watch -> watch.facts(sampleMillis, now))
                                .sorted(Comparator.comparingLong(ServiceFacts::requests)
                                        .reversed()
                                        .thenComparing(ServiceFacts::service))
                                .toList(),
                        servicesSeen.size()),
                new Figures(
                        jobs.facts(),
                        inference(),
                        owners.loans(loans, decisions.turnover(sampleMillis), sampleMillis),
                        decisions.facts()),
                Optional.empty(),
                true);
    }

    private Inference inference() {
        long judged = services.values().stream()
                .mapToLong(ServiceWatch::requestsJudged)
                .sum();
        long kept =
                services.values().stream().mapToLong(ServiceWatch::requestsKept).sum();
        return new Inference(
                requests,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                judged == 0 ? Optional.empty() : Optional.of((double) kept / judged));
    }

    /** Takes what the report has a use for. */
    private final class EventReader extends WorkloadReader {
        @Override
        public Runnable node(Node node) {
            return () -> owners.learn(node);
        }

        @Override
        public Runnable service(InferenceService service) {
            return () -> take(service);
        }

        @Override
        public Runnable rate(RequestRate rate) {
            return () -> take(rate);
        }

        @Override
        public Runnable job(TrainingJob job) {
            return () -> take(job);
        }

        @Override
        public Runnable progress(TrainingProgress progress) {
            return () -> take(progress);
        }

        @Override
        public Runnable forecast(DemandForecast forecast) {
            return () -> take(forecast);
        }
    }
}
