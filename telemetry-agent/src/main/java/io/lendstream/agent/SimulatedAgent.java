package io.lendstream.agent;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.Stop;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.time.VirtualClock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Plays the agents of simulated nodes: it reads leases to know which tenants use which GPU, and samples accordingly.
 * After an actuator's report on repartitioned GPUs it publishes their new inventories.
 */
final class SimulatedAgent {
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private final RecordWriter writer;
    private final RecordReader reader;
    private final DomainId domain;
    private final Function<Instant, SimulatedNodes> boot;
    private final BiFunction<List<Node>, List<GpuTelemetry>, List<GpuTelemetry>> users;
    private final BiConsumer<List<Node>, List<GpuTelemetry>> onlooker;
    private final VirtualClock clock = new VirtualClock(Optional.empty());
    private final Map<String, Lease> leases = new TreeMap<>();
    private final List<Consumer<SimulatedNodes>> cutsBefore = new ArrayList<>();
    private Optional<SimulatedNodes> nodes = Optional.empty();

    /**
     * @param cuttable whether some of the GPUs may be repartitioned
     * @param boot creates the nodes at the time when their agents start
     * @param users adds the users of GPUs to samples
     * @param onlooker receives all published records
     */
    SimulatedAgent(
            RecordWriter writer,
            RecordReader reader,
            DomainId domain,
            boolean cuttable,
            Function<Instant, SimulatedNodes> boot,
            BiFunction<List<Node>, List<GpuTelemetry>, List<GpuTelemetry>> users,
            BiConsumer<List<Node>, List<GpuTelemetry>> onlooker) {
        this.writer = writer;
        this.domain = domain;
        this.boot = boot;
        this.users = users;
        this.onlooker = onlooker;
        this.reader = reader.handing(
                        TopicCatalogue.PROGRESS,
                        received -> received.value()
                                .filter(progress -> progress.domain().equals(domain))
                                .ifPresent(clock::take))
                .handing(
                        TopicCatalogue.LEASES,
                        received -> received.value()
                                .filter(lease -> lease.domain().equals(domain))
                                .ifPresent(this::take));
        if (cuttable) {
            followCuts();
        }
        reader.start(Map.of());
    }

    private void followCuts() {
        reader.handing(
                        TopicCatalogue.DECISIONS,
                        received -> received.value()
                                .filter(decision -> decision.id().domain().equals(domain))
                                .filter(decision ->
                                        decision.action().asRepartition().isPresent())
                                .ifPresent(decision -> cut(simulated -> write(simulated.observe(decision), List.of()))))
                .handing(
                        TopicCatalogue.ACTUATION_REPORTS,
                        received -> received.value()
                                .filter(report -> report.domain().equals(domain))
                                .filter(report -> report.tenant().isEmpty())
                                .ifPresent(report -> cut(simulated -> write(simulated.recut(report), List.of()))));
    }

    /** Repartitions that were reported before these nodes exist are applied when they do. */
    private void cut(Consumer<SimulatedNodes> change) {
        nodes.ifPresentOrElse(change, () -> cutsBefore.add(change));
    }

    private void take(Lease lease) {
        leases.put(lease.gpuId().value(), lease);
        nodes.ifPresent(simulated -> simulated.observe(lease));
    }

    /** Samples by the wall clock until it is stopped. */
    void followTheWallClock(Health health, Stop stop) {
        started(Instant.now().truncatedTo(ChronoUnit.MILLIS));
        writer.flush();
        health.ready();
        while (!stop.isRequested()) {
            reader.poll(PATIENCE);
            publishUntil(Instant.now());
        }
    }

    /** Samples in virtual time: answers each time of the virtual-time driver. */
    void followTheEnvironment(Health health, BooleanSupplier stopped) {
        while (!stopped.getAsBoolean()) {
            reader.poll(PATIENCE);
            if (reader.hasCaughtUp()) {
                health.ready();
                clock.due().map(Progress::eventTime).ifPresent(this::answer);
            }
        }
    }

    private void answer(Instant time) {
        started(time);
        publishUntil(time);
        writer.flush();
        writer.write(
                TopicCatalogue.PROGRESS,
                ServiceName.AGENT.toString(),
                Progress.of(
                        ServiceName.AGENT, domain, time, writer.positions(), nodes.map(SimulatedNodes::nextSampleAt)));
        writer.flush();
        clock.answer(time);
    }

    private SimulatedNodes started(Instant now) {
        if (nodes.isEmpty()) {
            SimulatedNodes simulated = boot.apply(now);
            leases.values().forEach(simulated::observe);
            nodes = Optional.of(simulated);
            write(simulated.inventory(), List.of());
            cutsBefore.forEach(change -> change.accept(simulated));
            cutsBefore.clear();
        }
        return nodes.get();
    }

    private void publishUntil(Instant now) {
        List<GpuTelemetry> samples = nodes.map(
                        simulated -> users.apply(simulated.inventory(), simulated.samplesUntil(now)))
                .orElse(List.of());
        if (!samples.isEmpty()) {
            write(List.of(), samples);
        }
    }

    private void write(List<Node> inventory, List<GpuTelemetry> samples) {
        publish(writer, inventory, samples);
        onlooker.accept(inventory, samples);
    }

    /** Writes inventories and samples with their nodes' names as keys. */
    static void publish(RecordWriter writer, List<Node> inventory, List<GpuTelemetry> samples) {
        inventory.forEach(
                node -> writer.write(TopicCatalogue.NODES, node.nodeId().value(), node));
        samples.forEach(sample ->
                writer.write(TopicCatalogue.GPU_TELEMETRY, sample.nodeId().value(), sample));
    }
}
