package io.lendstream.agent;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Runs the agent of simulated nodes, as the settings describe them. */
record SimulatedRun(Settings settings, SimulatedNodes.Layout layout) {

    /** @param isVirtual whether time is virtual, and the processes of this host are of another time */
    static SimulatedRun of(Settings settings, boolean isVirtual) {
        if (settings.get(AgentKeys.SIMULATED_PROCESSES)) {
            checkProcesses(isVirtual);
        }
        int nodes = settings.get(AgentKeys.NODES);
        int training = settings.get(AgentKeys.TRAINING_NODES).orElse(nodes / 2);
        if (training > nodes) {
            throw new SettingsException(
                    "agent.training-nodes (--training-nodes) is %d, but agent.nodes (--nodes) is %d. Lower it, leave it out for half of the nodes, or ask for more nodes."
                            .formatted(training, nodes));
        }
        int cuttable = settings.get(AgentKeys.CUTTABLE_NODES);
        if (cuttable > nodes) {
            throw new SettingsException(
                    "agent.cuttable-nodes is %d, but agent.nodes (--nodes) is %d. Lower it, or ask for more nodes."
                            .formatted(cuttable, nodes));
        }
        return new SimulatedRun(
                settings,
                new SimulatedNodes.Layout(
                                new DomainId(settings.get(AgentKeys.DOMAIN)),
                                nodes,
                                settings.get(AgentKeys.GPUS_PER_NODE),
                                training,
                                cuttable,
                                settings.get(AgentKeys.SEED))
                        .with(topology(settings, nodes)));
    }

    /** A node that is the only one has the name that is set; several have names by number. */
    private static SimulatedTopology topology(Settings settings, int nodes) {
        SimulatedTopology hosts = SimulatedTopology.NONE.with(SimulatedHost.of(
                settings.get(AgentKeys.CPUS).orElse(0),
                settings.get(AgentKeys.HOST_MEMORY).orElse(0L)));
        Optional<String> name = settings.get(AgentKeys.NODE).filter(any -> nodes == 1);
        return name.map(NodeId::new).map(hosts::with).orElse(hosts);
    }

    private static void checkProcesses(boolean isVirtual) {
        if (isVirtual) {
            throw new SettingsException(
                    "agent.simulated.processes is true, but time is virtual. Leave time out, or agent.simulated.processes.");
        }
        if (!new HostProcesses().isThere()) {
            throw new SettingsException(
                    "agent.simulated.processes is true, but this machine has no /proc, from which processes are read. Leave it out.");
        }
    }

    /**
     * Takes one sample, which is printed before it is published.
     *
     * @param publish whether to publish it
     */
    void once(ServiceContext context, boolean publish, Printer printer) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        SimulatedNodes simulated = nodes(now);
        List<GpuTelemetry> samples = withUsers(simulated.inventory(), simulated.sampleNow(now));
        printer.print(simulated.inventory(), samples, "");
        if (!publish) {
            return;
        }
        try {
            Connection.check(
                    context.kafka(),
                    context.topics(),
                    List.of(TopicCatalogue.NODES, TopicCatalogue.GPU_TELEMETRY),
                    settings.get(CommonKeys.CONNECT_TIMEOUT));
        } catch (UnreachableException e) {
            throw new UnreachableException(
                    "%d records (nodes, gpu-telemetry) were printed, but not published: %s To only print, use --dry-run."
                            .formatted(simulated.inventory().size() + samples.size(), e.getMessage()),
                    e);
        }
        try (RecordWriter writer = context.writer()) {
            SimulatedAgent.publish(writer, simulated.inventory(), samples);
            writer.flush();
        }
    }

    void serve(ServiceContext context, Printer printer) {
        try (RecordWriter writer = context.writer();
                RecordReader reader = context.reader(writer)) {
            var agent = new SimulatedAgent(
                    writer,
                    reader,
                    layout.domain(),
                    layout.cutNodes() > 0,
                    this::nodes,
                    this::withUsers,
                    printer::printJson);
            if (context.isVirtual()) {
                agent.followTheEnvironment(context.health(), context.stop()::isRequested);
            } else {
                agent.followTheWallClock(context.health(), context.stop());
            }
        }
    }

    /** Without the setting, users are unknown. */
    private List<GpuTelemetry> withUsers(List<Node> nodes, List<GpuTelemetry> samples) {
        return settings.get(AgentKeys.SIMULATED_PROCESSES) && !samples.isEmpty()
                ? new SimulatedProcesses(new HostProcesses(), settings.get(AgentKeys.IGNORED_USERS)).in(nodes, samples)
                : samples;
    }

    private SimulatedNodes nodes(Instant start) {
        return new SimulatedNodes(layout, start, settings.get(AgentKeys.PERIOD), boot());
    }

    /** A name that is unique to this start. */
    static String boot() {
        return UUID.randomUUID().toString().substring(0, 8);
    }
}
