package io.lendstream.simulator.report;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.report.Bins.Bin;
import io.lendstream.simulator.report.ReportedRun.Course;
import io.lendstream.simulator.report.ReportedRun.DecisionFacts;
import io.lendstream.simulator.report.ReportedRun.Figures;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.KindCount;
import io.lendstream.simulator.report.ReportedRun.Loans;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import io.lendstream.simulator.report.ReportedRun.Period;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.ReportedRun.Turnover;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes the facts of a run from what an onlooker sees of it, record by record, roughly in the order of time. What it keeps
 * grows with the number of GPUs, jobs and services, not with the length of the run.
 *
 * <p>Not safe for use by several threads at once.
 */
public final class FactsCollector {
    private static final int MOST_SERVICES = 200;
    private static final int DECISIONS_AT_EACH_END = 100;
    private static final int MOST_REASONS = 50;

    private final String name;
    private final boolean lending;
    private final Duration forecastLead;

    private Optional<Instant> start = Optional.empty();
    private Instant now = Instant.MIN;

    private final EventReader reader = new EventReader();
    private final Map<OwnerGroup, Steps> groups = new EnumMap<>(OwnerGroup.class);
    private final Map<GpuId, Held> holdings = new HashMap<>();
    private Instant ownersAt = Instant.MIN;
    private long loansEnded;
    private double loanSeconds;
    private double longestLoanSeconds;

    private final Map<ServiceId, ServiceWatch> services = new TreeMap<>();
    private final Set<ServiceId> servicesSeen = new HashSet<>();
    private long requests;

    private final Map<JobId, Instant> submitted = new HashMap<>();
    private final Map<JobId, Instant> finished = new HashMap<>();
    private final Set<JobId> started = new HashSet<>();
    private int restarts;

    private final Map<String, Kind> kinds = new TreeMap<>();
    private final List<Decision> firstDecisions = new ArrayList<>();
    private final Deque<Decision> lastDecisions = new ArrayDeque<>();
    private final Bins lentGpus = new Bins();
    private final Bins reclaimedGpus = new Bins();
    private long decisions;
    private long advisory;

    /** How a GPU is held. */
    private record Held(OwnerGroup group, Optional<ServiceId> service, Optional<Instant> lentSince) {}

    private static final class Kind {
        private final Map<String, Long> reasons = new TreeMap<>();
        private long decisions;
        private long gpus;
    }

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

    /** Takes what it has a use for, and lets other events pass. */
    public void take(Event event) {
        event.match(reader).run();
    }

    public void take(Lease lease) {
        Owner owner = lease.owner();
        OwnerGroup group = OwnerGroup.of(owner);
        Optional<ServiceId> service = owner.isServing() ? owner.replicaOf() : Optional.empty();
        hold(lease.gpuId(), Optional.of(group), service, lease.since());
    }

    /** A GPU that has no owner any more because it is gone: its lease record was deleted. */
    public void gone(GpuId gpu, Instant at) {
        hold(gpu, Optional.empty(), Optional.empty(), at);
    }

    private void hold(GpuId gpu, Optional<OwnerGroup> group, Optional<ServiceId> service, Instant at) {
        seenAt(at);
        if (groups.isEmpty()) {
            for (OwnerGroup each : OwnerGroup.values()) {
                groups.put(each, new Steps(at));
            }
        }
        // A lease that is told late changes all groups at once, now, so that no GPU counts twice in between.
        ownersAt = at.isAfter(ownersAt) ? at : ownersAt;
        Optional<Held> before = Optional.ofNullable(holdings.remove(gpu));
        boolean same = before.map(Held::group).equals(group)
                && before.flatMap(Held::service).equals(service);
        if (!same) {
            before.ifPresent(held -> {
                steps(held.group()).add(ownersAt, -1);
                held.service().flatMap(this::watch).ifPresent(watch -> watch.replicas(ownersAt, -1));
            });
            group.ifPresent(each -> steps(each).add(ownersAt, 1));
            service.flatMap(this::watch).ifPresent(watch -> watch.replicas(ownersAt, 1));
        }
        Optional<Instant> lentBefore = before.flatMap(Held::lentSince);
        boolean isLent = group.equals(Optional.of(OwnerGroup.LENT));
        if (lentBefore.isPresent() && !isLent) {
            double seconds = Math.max(0, Duration.between(lentBefore.get(), at).toMillis() / 1000.0);
            loansEnded++;
            loanSeconds += seconds;
            longestLoanSeconds = Math.max(longestLoanSeconds, seconds);
        }
        Optional<Instant> lentSince = isLent ? lentBefore.or(() -> Optional.of(at)) : Optional.empty();
        group.ifPresent(each -> holdings.put(gpu, new Held(each, service, lentSince)));
    }

    private Steps steps(OwnerGroup group) {
        return groups.computeIfAbsent(group, each -> new Steps(now));
    }

    public void take(RequestRate rate) {
        seenAt(rate.windowEnd());
        start = start.map(at -> at.isAfter(rate.windowStart()) ? rate.windowStart() : at);
        Optional<ServiceWatch> watch = watch(rate.service());
        if (watch.isEmpty() || watch.get().take(rate)) {
            requests += rate.arrivals();
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
        submitted.putIfAbsent(job.job(), job.submittedAt());
    }

    public void take(TrainingProgress progress) {
        seenAt(progress.at());
        if (progress.phase() == JobPhase.FINISHED) {
            finished.putIfAbsent(progress.job(), progress.at());
        }
    }

    public void take(Decision decision) {
        seenAt(decision.at());
        decisions++;
        Action action = decision.action();
        Kind kind = kinds.computeIfAbsent(action.kind(), each -> new Kind());
        kind.decisions++;
        kind.gpus += action.gpus().size();
        String code = decision.reason().code();
        if (kind.reasons.size() < MOST_REASONS || kind.reasons.containsKey(code)) {
            kind.reasons.merge(code, 1L, Long::sum);
        }
        remember(decision);
        if (decision.advisory()) {
            advisory++;
            return;
        }
        action.asLend()
                .ifPresent(lend -> lentGpus.tally(decision.at(), lend.gpus().size()));
        action.asReclaim()
                .ifPresent(reclaim ->
                        reclaimedGpus.tally(decision.at(), reclaim.gpus().size()));
        action.jobChange().ifPresent(this::changed);
    }

    private void changed(JobChange change) {
        Allocation allocation = change.allocation();
        if (!allocation.gpus().isEmpty() && !started.add(change.job()) && allocation.mechanism() == Mechanism.RESTART) {
            restarts++;
        }
    }

    private void remember(Decision decision) {
        if (firstDecisions.size() < DECISIONS_AT_EACH_END) {
            firstDecisions.add(decision);
            return;
        }
        lastDecisions.addLast(decision);
        if (lastDecisions.size() > DECISIONS_AT_EACH_END) {
            lastDecisions.removeFirst();
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
        groups.values().forEach(steps -> steps.upTo(now));
        ownersAt = now;
        services.values().forEach(watch -> watch.upTo(now));
        long width = lentGpus.isEmpty() ? 1000 : lentGpus.widthMillis();
        width = Math.max(width, reclaimedGpus.isEmpty() ? 1000 : reclaimedGpus.widthMillis());
        for (Steps steps : groups.values()) {
            width = Math.max(width, steps.bins().widthMillis());
        }
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
                        owners(sampleMillis),
                        services.values().stream()
                                .map(watch -> watch.facts(sampleMillis, now))
                                .sorted(Comparator.comparingLong(ServiceFacts::requests)
                                        .reversed()
                                        .thenComparing(ServiceFacts::service))
                                .toList(),
                        servicesSeen.size()),
                new Figures(training(), inference(), loans(sampleMillis), decisionFacts()),
                Optional.empty(),
                true);
    }

    private List<OwnerSample> owners(long widthMillis) {
        Map<Instant, Map<OwnerGroup, Double>> samples = new TreeMap<>();
        groups.forEach((group, steps) -> {
            for (Bin bin : steps.bins().bins(widthMillis)) {
                samples.computeIfAbsent(bin.at(), at -> new EnumMap<>(OwnerGroup.class))
                        .put(group, bin.mean());
            }
        });
        return samples.entrySet().stream()
                .map(sample -> new OwnerSample(sample.getKey(), sample.getValue()))
                .toList();
    }

    private Training training() {
        List<Double> seconds = new ArrayList<>();
        finished.forEach((job, at) -> Optional.ofNullable(submitted.get(job))
                .ifPresent(since -> seconds.add(Duration.between(since, at).toMillis() / 1000.0)));
        return new Training(
                submitted.size(),
                finished.size(),
                seconds,
                started.isEmpty() ? Optional.empty() : Optional.of(restarts),
                Optional.empty());
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

    private Loans loans(long widthMillis) {
        Map<Instant, Turnover> turnover = new TreeMap<>();
        for (Bin bin : lentGpus.bins(widthMillis)) {
            turnover.put(bin.at(), new Turnover(bin.at(), (int) bin.amount(), 0));
        }
        for (Bin bin : reclaimedGpus.bins(widthMillis)) {
            turnover.merge(
                    bin.at(),
                    new Turnover(bin.at(), 0, (int) bin.amount()),
                    (lent, reclaimed) -> new Turnover(bin.at(), lent.lentGpus(), reclaimed.reclaimedGpus()));
        }
        turnover.values().removeIf(each -> each.lentGpus() == 0 && each.reclaimedGpus() == 0);
        double lentMillis = Optional.ofNullable(groups.get(OwnerGroup.LENT)).stream()
                .flatMap(steps -> steps.bins().bins(widthMillis).stream())
                .mapToDouble(Bin::amount)
                .sum();
        return new Loans(
                lentMillis / Duration.ofHours(1).toMillis(),
                loansEnded,
                (int) holdings.values().stream()
                        .filter(held -> held.group() == OwnerGroup.LENT)
                        .count(),
                loansEnded == 0 ? 0 : loanSeconds / loansEnded,
                longestLoanSeconds,
                List.copyOf(turnover.values()));
    }

    private DecisionFacts decisionFacts() {
        return new DecisionFacts(
                decisions,
                advisory,
                kinds.entrySet().stream()
                        .map(kind -> new KindCount(
                                kind.getKey(),
                                kind.getValue().decisions,
                                kind.getValue().gpus,
                                kind.getValue().reasons))
                        .sorted(Comparator.comparingLong(KindCount::decisions)
                                .reversed()
                                .thenComparing(KindCount::kind))
                        .toList(),
                firstDecisions,
                List.copyOf(lastDecisions));
    }

    /** Takes what the report has a use for. */
    private final class EventReader extends WorkloadReader {
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
