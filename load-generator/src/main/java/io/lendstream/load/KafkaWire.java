package io.lendstream.load;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The topics: writes the records of agents and jobs, reads decisions and reports. */
final class KafkaWire implements Wire {
    /** The position under which the scheduler gives the sequence of its last decision. */
    static final String DECISIONS = "decisions";

    private final RecordWriter writer;
    private final RecordReader reader;
    private final DomainId domain;
    private final Optional<DecisionSpool> kept;
    private final List<Object> inbox = new ArrayList<>();
    private long lastDecision;

    /**
     * The topics of one domain.
     *
     * @param reader not started yet; reads everything from the beginning
     * @param kept keeps each decision once; empty if the results need no decisions
     * @param withLeases whether the workload reacts to owners of GPUs
     */
    KafkaWire(
            RecordWriter writer,
            RecordReader reader,
            DomainId domain,
            Optional<DecisionSpool> kept,
            boolean withLeases) {
        this.writer = writer;
        this.domain = domain;
        this.kept = kept;
        this.reader = reader.handing(
                        TopicCatalogue.DECISIONS, received -> received.value().ifPresent(this::take))
                .handing(
                        TopicCatalogue.ACTUATION_REPORTS,
                        received -> received.value()
                                .filter(report -> report.domain().equals(domain))
                                .ifPresent(inbox::add))
                .handing(
                        TopicCatalogue.NODES,
                        received -> received.value()
                                .filter(node -> node.domain().equals(domain))
                                .ifPresent(inbox::add))
                .handing(
                        TopicCatalogue.PROGRESS,
                        received -> received.value()
                                .filter(progress -> progress.domain().equals(domain))
                                .ifPresent(inbox::add));
        if (withLeases) {
            reader.handing(
                    TopicCatalogue.LEASES,
                    received -> received.value()
                            .filter(lease -> lease.domain().equals(domain))
                            .ifPresent(inbox::add));
        }
        reader.start(Map.of());
    }

    private void take(Decision decision) {
        if (!decision.id().domain().equals(domain)) {
            return;
        }
        if (decision.id().sequence() > lastDecision) {
            kept.ifPresent(spool -> spool.add(decision));
            lastDecision = decision.id().sequence();
        }
        inbox.add(decision);
    }

    /** The decisions of the domain so far, each once; none if they are not kept. */
    List<Decision> decisions() {
        return kept.<List<Decision>>map(spool -> spool).orElse(List.of());
    }

    @Override
    public void publish(List<Event> events) {
        events.forEach(this::publish);
    }

    private void publish(Event event) {
        event.match(new Publication()).run();
    }

    @Override
    public Map<String, Long> flush() {
        writer.flush();
        return writer.positions();
    }

    @Override
    public void say(Progress progress) {
        writer.write(TopicCatalogue.PROGRESS, progress.service(), progress);
        writer.flush();
    }

    @Override
    public List<Object> poll(Duration patience) {
        reader.poll(patience);
        List<Object> records = List.copyOf(inbox);
        inbox.clear();
        return records;
    }

    @Override
    public boolean hasRead(Map<String, Long> positions) {
        return reader.hasRead(positions) && lastDecision >= positions.getOrDefault(DECISIONS, 0L);
    }

    /** Writes an event to its topic. */
    private final class Publication implements Event.Cases<Runnable> {
        @Override
        public Runnable node(Node node) {
            return () -> writer.write(TopicCatalogue.NODES, node.nodeId().value(), node);
        }

        @Override
        public Runnable nodeLeft(NodeLeft left) {
            return foreign(left);
        }

        @Override
        public Runnable telemetry(GpuTelemetry telemetry) {
            return () -> writer.write(
                    TopicCatalogue.GPU_TELEMETRY, telemetry.nodeId().value(), telemetry);
        }

        @Override
        public Runnable sampleSummary(SampleSummary summary) {
            return foreign(summary);
        }

        @Override
        public Runnable service(InferenceService service) {
            return () -> writer.write(TopicCatalogue.SERVICES, service.service().value(), service);
        }

        @Override
        public Runnable rate(RequestRate rate) {
            return () ->
                    writer.write(TopicCatalogue.REQUEST_RATES, rate.service().value(), rate);
        }

        @Override
        public Runnable job(TrainingJob job) {
            return () -> writer.write(TopicCatalogue.TRAINING_JOBS, job.job().value(), job);
        }

        @Override
        public Runnable progress(TrainingProgress progress) {
            return () -> writer.write(
                    TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress);
        }

        @Override
        public Runnable forecast(DemandForecast forecast) {
            return foreign(forecast);
        }

        @Override
        public Runnable report(ActuationReport report) {
            return foreign(report);
        }

        @Override
        public Runnable command(ControlCommand command) {
            return () -> writer.write(TopicCatalogue.CONTROL, command.domain().value(), command);
        }

        @Override
        public Runnable clusterQueue(ClusterQueue queue) {
            return () -> writer.write(TopicCatalogue.QUEUES, queue.queue().value(), queue);
        }

        @Override
        public Runnable domainSettings(DomainSettings settings) {
            return () -> writer.write(
                    TopicCatalogue.DOMAIN_SETTINGS, settings.domain().value(), settings);
        }

        @Override
        public Runnable actuatorDescription(ActuatorDescription description) {
            return foreign(description);
        }

        @Override
        public Runnable started(SchedulerStarted started) {
            return foreign(started);
        }

        @Override
        public Runnable tick(Tick tick) {
            return foreign(tick);
        }

        private Runnable foreign(Event event) {
            throw new IllegalArgumentException("a workload has no event such as %s".formatted(event));
        }
    }
}
