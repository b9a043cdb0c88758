package io.lendstream.launcher.operation;

import io.lendstream.core.event.Event;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.text.Times;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The state of one service, job or queue, as {@code top} shows it, and the GPUs that it holds. */
public final class ShownState {
    /** Older rates, forecasts and progress reports are not read, as in {@code top}. */
    private static final Duration RECENT = Duration.ofMinutes(15);

    private static final Duration POLL = Duration.ofMillis(200);
    private static final List<Topic<?>> WHOLE = List.of(
            TopicCatalogue.LEASES,
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.QUEUES,
            TopicCatalogue.DOMAIN_SETTINGS,
            TopicCatalogue.PROGRESS);
    private static final List<Topic<?>> LATELY =
            List.of(TopicCatalogue.REQUEST_RATES, TopicCatalogue.DEMAND_FORECASTS, TopicCatalogue.TRAINING_PROGRESS);

    private final Overview overview;
    private final Setbacks setbacks;
    private final Instant now;

    private ShownState(Overview overview, Setbacks setbacks, Instant now) {
        this.overview = overview;
        this.setbacks = setbacks;
        this.now = now;
    }

    /**
     * The state of all services, jobs, queues and domains with settings of their own.
     *
     * @param progress receives a line every two seconds while a topic is read
     */
    public static ShownState read(Cluster cluster, Consumer<String> progress) {
        List<Topic<?>> needed =
                new ArrayList<>(Stream.concat(WHOLE.stream(), LATELY.stream()).toList());
        needed.add(TopicCatalogue.DOMAIN_EVENTS);
        needed.add(TopicCatalogue.ACTUATION_REPORTS);
        Setbacks setbacks = new Setbacks();
        Connection.check(cluster.kafka(), cluster.topics(), needed, cluster.patience());
        Overview overview = new Overview();
        TopicScan reading = new TopicScan(cluster, progress);
        try (RecordReader reader = reading.open();
                LogReader log = new LogReader(reading, cluster.topics())) {
            WHOLE.forEach(topic -> hand(reader, topic, overview));
            LATELY.forEach(topic -> hand(reader, topic, overview));
            reader.handing(
                    TopicCatalogue.ACTUATION_REPORTS,
                    received -> received.value().ifPresent(setbacks::take));
            List<Topic<?>> late = new ArrayList<>(LATELY);
            late.add(TopicCatalogue.ACTUATION_REPORTS);
            reader.start(reading.since(reader, late, Instant.now().minus(RECENT)));
            while (!reader.hasCaughtUp()) {
                reader.poll(POLL);
            }
            log.schedulers(overview.domains()).forEach(overview::tell);
        }
        boolean virtual = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
        return new ShownState(overview, setbacks, overview.now(Instant.now(), virtual));
    }

    private static <T> void hand(RecordReader reader, Topic<T> topic, Overview overview) {
        reader.handing(
                topic,
                received -> received.value()
                        .ifPresentOrElse(overview::tell, () -> overview.removed(topic, received.key())));
    }

    /** The lines about a declared object; empty if nothing is known. */
    public List<String> lines(Event declared) {
        return declared.asService()
                .map(service -> lines(service.service()))
                .or(() -> declared.asJob().map(job -> lines(job.job())))
                .or(() -> declared.asQueue().map(queue -> lines(queue.queue())))
                .or(() -> declared.asDomainSettings().map(settings -> overview.settings(settings.domain())))
                .orElse(List.of());
    }

    private List<String> lines(ServiceId name) {
        OverviewText text = new OverviewText(overview);
        Optional<String> line = overview.services().stream()
                .filter(service -> service.spec().service().equals(name))
                .findFirst()
                .map(service -> text.line(service, now));
        return withGpus(line, new Tenant.Service(name));
    }

    private List<String> lines(JobId name) {
        OverviewText text = new OverviewText(overview);
        Optional<String> line = overview.jobs().stream()
                .filter(job -> job.spec().job().equals(name))
                .findFirst()
                .map(job -> text.line(job)
                        + (overview.progress(name).isEmpty()
                                ? "; no progress report in the last %d minutes".formatted(RECENT.toMinutes())
                                : ""));
        return withGpus(line, new Tenant.Job(name));
    }

    private List<String> lines(QueueId name) {
        return overview.queues().lines(overview.ledgers()).stream()
                .filter(line -> line.startsWith(name.value() + " "))
                .toList();
    }

    private List<String> withGpus(Optional<String> line, Tenant tenant) {
        List<String> lines = new ArrayList<>();
        line.ifPresent(lines::add);
        setbacks.of(tenant)
                .ifPresent(report -> lines.add(
                        "%s at %s: %s".formatted(Setbacks.inWords(report), Times.at(report.at()), report.reason())));
        overview.leases().stream()
                .filter(lease -> lease.owner().holder().filter(tenant::equals).isPresent())
                .sorted(Comparator.comparing(Lease::gpuId, overview.names().order()))
                .forEach(lease ->
                        lines.add("%-20s %s".formatted(overview.names().of(lease.gpuId()), EventText.of(lease))));
        return lines;
    }
}
