package io.lendstream.launcher.operation;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Services and jobs from records, which may arrive in any order. */
final class SeenWorkload {
    /** So many reports of a job that is not declared are kept. */
    private static final int MOST_EARLY = 100;

    private final EventReader reader = new EventReader();
    private final Predicate<DomainId> sums;
    private final SortedMap<ServiceId, Seen> services = new TreeMap<>();
    private final Map<ServiceId, List<Event>> early = new HashMap<>();
    private final SortedMap<JobId, JobState> jobs = new TreeMap<>();
    private final Map<JobId, TrainingProgress> progress = new HashMap<>();
    /** The last reports of jobs that are not declared, as far as was read. */
    private final Map<JobId, List<TrainingProgress>> earlyReports = new HashMap<>();

    /**
     * A service as schedulers see it. Which of both counts is known only when the start of its scheduler is read.
     *
     * @param plain where windows too short for a rate leave the rate as it was
     * @param summed where they are summed up
     */
    private record Seen(ServiceState plain, ServiceState summed) {
        Seen with(UnaryOperator<ServiceState> change) {
            return new Seen(change.apply(plain), change.apply(summed));
        }

        Seen observed(RequestRate rate) {
            return new Seen(plain.observed(rate, false, 0), summed.observed(rate, true, 0));
        }
    }

    /** @param sums whether the scheduler of a domain sums up windows that are too short for a rate */
    SeenWorkload(Predicate<DomainId> sums) {
        this.sums = sums;
    }

    void tell(Event event) {
        event.match(reader).run();
    }

    Collection<ServiceState> services() {
        return services.values().stream()
                .map(seen -> sums.test(seen.plain().spec().domain()) ? seen.summed() : seen.plain())
                .toList();
    }

    Collection<JobState> jobs() {
        return jobs.values();
    }

    Optional<TrainingProgress> progress(JobId job) {
        return Optional.ofNullable(progress.get(job));
    }

    /** A job is not declared any more. */
    void forget(JobId job) {
        jobs.remove(job);
    }

    /** A service is not declared any more, and holds nothing. */
    void forget(ServiceId service) {
        services.remove(service);
    }

    private void tell(InferenceService service) {
        ServiceState first = ServiceState.of(service);
        services.merge(
                service.service(),
                new Seen(first, first),
                (known, fresh) -> known.with(state -> state.describedBy(service)));
        List<Event> waiting = early.remove(service.service());
        if (waiting != null) {
            waiting.forEach(this::tell);
        }
    }

    private void tell(TrainingJob job) {
        jobs.merge(job.job(), JobState.of(job, 0), (known, fresh) -> known.described(job, 0));
        List<TrainingProgress> waiting = earlyReports.remove(job.job());
        if (waiting != null) {
            waiting.forEach(this::tell);
        }
    }

    /** A report that arrives before its job is kept until then. */
    private void tell(TrainingProgress said) {
        progress.put(said.job(), said);
        if (jobs.computeIfPresent(said.job(), (name, known) -> known.observed(said, 0, FitRule.COARSE)) == null) {
            List<TrainingProgress> early = earlyReports.computeIfAbsent(said.job(), name -> new ArrayList<>());
            if (early.size() == MOST_EARLY) {
                early.remove(0);
            }
            early.add(said);
        }
    }

    /** A rate that arrives before its service is kept until then: topics are read in any order. */
    private void tell(RequestRate rate) {
        Seen known = services.get(rate.service());
        if (known == null) {
            early.computeIfAbsent(rate.service(), name -> new ArrayList<>()).add(rate);
        } else if (!known.plain().hasSeen(rate)) {
            services.put(rate.service(), known.observed(rate));
        }
    }

    /** As a scheduler does: a forecast that is written again after a newer one changes nothing. */
    private void tell(DemandForecast forecast) {
        Seen known = services.get(forecast.service());
        if (known == null) {
            early.computeIfAbsent(forecast.service(), name -> new ArrayList<>()).add(forecast);
        } else if (known.plain()
                .forecast()
                .filter(last -> last.issuedAt().isAfter(forecast.issuedAt()))
                .isEmpty()) {
            services.put(forecast.service(), known.with(state -> state.expecting(forecast, 0)));
        }
    }

    /** Applies the events of services and jobs. */
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
            return () -> tell(job);
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
