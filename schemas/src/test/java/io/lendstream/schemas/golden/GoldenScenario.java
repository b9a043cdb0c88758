package io.lendstream.schemas.golden;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A scenario with notes for readers of its log, in the words of the golden cases. */
final class GoldenScenario {
    private final Scenario story;
    private final Map<Long, String> notes = new TreeMap<>();
    private final Duration window;
    private final Map<String, Long> sequences = new TreeMap<>();
    private List<Decision> last = List.of();

    private GoldenScenario(Scenario story, Duration window) {
        this.story = story;
        this.window = window;
    }

    /**
     * Begins a tale.
     *
     * @param time of the day, such as 07:40
     * @param window length of the windows in which request rates are reported
     */
    static GoldenScenario of(String policy, SchedulerSettings settings, String time, Duration window) {
        Instant start = Instant.parse("2026-01-05T" + time + ":00Z");
        return new GoldenScenario(new Scenario(new Scheduler(Policies.parse(policy), settings), start), window);
    }

    static GoldenScenario of(String policy, String time) {
        return of(policy, SchedulerSettings.DEFAULTS, time, Duration.ofSeconds(60));
    }

    /** Begins a tale whose scheduler takes over what has waited for so long. */
    static GoldenScenario behind(String policy, String time, Duration backlog) {
        Instant start = Instant.parse("2026-01-05T" + time + ":00Z");
        Scheduler scheduler = new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS)
                .decidingFrom(Optional.of(start.plus(backlog)));
        return new GoldenScenario(new Scenario(scheduler, start), Duration.ofSeconds(60));
    }

    Scenario story() {
        return story;
    }

    Map<Long, String> notes() {
        return notes;
    }

    /** Says something of the event that comes next. */
    GoldenScenario note(String note) {
        notes.put((long) story.log().size() + 1, note);
        return this;
    }

    /** What the last thing told led to. */
    List<Decision> last() {
        return last;
    }

    /** Tells something of the domain. */
    GoldenScenario tell(java.util.function.Consumer<Scenario> what) {
        int before = story.decisions().size();
        what.accept(story);
        last = List.copyOf(story.decisions().subList(before, story.decisions().size()));
        return this;
    }

    GoldenScenario after(int seconds) {
        return tell(it -> it.after(Duration.ofSeconds(seconds)));
    }

    /** A service whose window of offered requests ends now. */
    GoldenScenario rate(String service, double perSecond) {
        long sequence = sequences.merge(service, 1L, Long::sum);
        long requests = Math.round(perSecond * window.toSeconds());
        return tell(it -> it.tell(new RequestRate(
                new ServiceId(service),
                Scenario.DOMAIN,
                "gateway",
                "boot-1",
                sequence,
                it.now().minus(window),
                it.now(),
                RequestRate.Requests.answered(requests),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of())));
    }

    /** The p99 of demand expected over the steps that end after so many minutes: minute, requests/s, minute, ... */
    GoldenScenario forecast(String service, double... p99ByMinute) {
        List<HorizonQuantiles> horizons = new ArrayList<>();
        for (int i = 0; i < p99ByMinute.length; i += 2) {
            double p99 = p99ByMinute[i + 1];
            horizons.add(new HorizonQuantiles(
                    Duration.ofMinutes((long) p99ByMinute[i]), p99 / 2, p99 * 0.7, p99 * 0.9, p99));
        }
        return tell(it -> it.tell(new DemandForecast(
                new ServiceId(service),
                Scenario.DOMAIN,
                it.now(),
                Duration.ofMinutes(1),
                "seasonal-naive",
                horizons,
                Optional.empty(),
                Optional.empty())));
    }

    /** Some time later a good actuator has done what the last decisions want, and what follows from that. */
    GoldenScenario doneAfter(int seconds) {
        List<Decision> open = last;
        after(seconds);
        List<Decision> between = last;
        int before = story.decisions().size();
        answer(open);
        List<Decision> further =
                List.copyOf(story.decisions().subList(before, story.decisions().size()));
        last = new ArrayList<>(between);
        last.addAll(further);
        return this;
    }

    GoldenScenario answer(List<Decision> decisions) {
        return tell(it -> {
            for (Decision decision : decisions) {
                it.answers(decision).forEach(it::tell);
            }
        });
    }

    /** As {@link #doneAfter}, until nothing is left to do. */
    GoldenScenario settled(int seconds) {
        for (int i = 0; i < 10 && !last.isEmpty(); i++) {
            doneAfter(seconds);
        }
        return this;
    }

    /** One report on a decision, with the GPUs and the tenant that a plain one would name. */
    GoldenScenario report(Decision decision, Outcome outcome, String reason) {
        ActuationReport plain = story.answers(decision).get(0);
        return tell(it -> it.tell(new ActuationReport(
                plain.domain(),
                plain.decision(),
                plain.actuator(),
                plain.at(),
                outcome,
                plain.gpus(),
                plain.tenant(),
                plain.timings(),
                reason)));
    }

    /** A job that runs well on many GPUs. */
    GoldenScenario job(String name, int minGpus, int maxGpus) {
        return job(name, minGpus, maxGpus, true, 0.005);
    }

    /** A job of which every step ends with a long exchange of gradients, so that more GPUs help it little. */
    GoldenScenario slowlyScalingJob(String name, int minGpus, int maxGpus) {
        return job(name, minGpus, maxGpus, true, 0.15);
    }

    GoldenScenario rigidJob(String name, int gpus) {
        return job(name, gpus, gpus, false, 0.005);
    }

    private GoldenScenario job(String name, int minGpus, int maxGpus, boolean elastic, double syncSeconds) {
        return tell(it -> it.tell(new TrainingJob(
                new JobId(name),
                Scenario.DOMAIN,
                it.now(),
                "resnet50",
                new TrainingJob.Scaling(maxGpus, minGpus, maxGpus, elastic),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, syncSeconds, 0.001, syncSeconds, 0.001, 1.5),
                                new GradientNoise(1, 4)),
                        new RescaleCosts(Duration.ofSeconds(24), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty())));
    }

    /** A sample of a node, one of whose GPUs shows an XID. */
    GoldenScenario sample(String node, Map<String, Integer> xids) {
        long sequence = sequences.merge("sample " + node, 1L, Long::sum);
        return tell(it -> it.tell(new GpuTelemetry(
                new NodeId(node),
                Scenario.DOMAIN,
                "boot-1",
                sequence,
                it.now(),
                it.state().gpus().stream()
                        .filter(gpu -> gpu.nodeId().value().equals(node))
                        .map(gpu -> Scenario.sample(
                                gpu.gpuId(),
                                Optional.ofNullable(xids.get(gpu.gpuId().value()))))
                        .toList())));
    }

    GoldenScenario progress(String job) {
        return tell(it -> it.progress(job, JobPhase.RUNNING));
    }

    /** A minute with a request rate in its middle and a plan at its end. */
    GoldenScenario minute(String service, double perSecond) {
        return after(30).rate(service, perSecond).after(30);
    }
}
