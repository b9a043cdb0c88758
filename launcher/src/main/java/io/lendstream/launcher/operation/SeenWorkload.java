package io.lendstream.launcher.operation;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.WorkloadReader;
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

/** Services and jobs from records, which may arrive in any order. */
final class SeenWorkload {
    private final EventReader reader = new EventReader();
    private final SortedMap<ServiceId, ServiceState> services = new TreeMap<>();
    private final Map<ServiceId, List<Event>> early = new HashMap<>();
    private final SortedMap<JobId, JobState> jobs = new TreeMap<>();
    private final Map<JobId, TrainingProgress> progress = new HashMap<>();

    void tell(Event event) {
        event.match(reader).run();
    }

    Collection<ServiceState> services() {
        return services.values();
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

    /** A rate that arrives before its service is kept until then: topics are read in any order. */
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
