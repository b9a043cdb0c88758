package io.lendstream.agent;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Publishes inventory and telemetry of nodes. */
@Command(
        name = "agent",
        description = "Publishes what nodes and their GPUs are (nodes) and do (gpu-telemetry).",
        footer = {
            "",
            "Examples:",
            "  lendstream agent --bootstrap-server broker:9092 --nodes 4 \\",
            "      --gpus-per-node 8 --training-nodes 2",
            "  lendstream agent --once --json --dry-run"
        })
final class AgentCommand extends ServiceCommand {
    private final PrintStream out;

    AgentCommand(PrintStream out) {
        this.out = out;
    }

    /** Where samples come from. */
    enum Backend {
        /** Nodes that do not exist, for demonstrations and tests. */
        SIMULATED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            converter = BackendNames.class,
            description = "Where samples come from: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Backend backend = Backend.SIMULATED;

    /** Backends as they are typed. */
    static final class BackendNames implements ITypeConverter<Backend> {
        @Override
        public Backend convert(String name) {
            return Arrays.stream(Backend.values())
                    .filter(backend -> backend.toString().equalsIgnoreCase(name))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("it must be %s, but is '%s'"
                            .formatted(
                                    Arrays.stream(Backend.values())
                                            .map(Backend::toString)
                                            .collect(Collectors.joining(" or ")),
                                    name)));
        }
    }

    @Option(names = "--domain", paramLabel = "D", description = "Short for --set agent.domain=D.")
    private Optional<String> domain = Optional.empty();

    @Option(names = "--nodes", paramLabel = "N", description = "Short for --set agent.nodes=N.")
    private Optional<String> nodes = Optional.empty();

    @Option(names = "--gpus-per-node", paramLabel = "G", description = "Short for --set agent.gpus-per-node=G.")
    private Optional<String> gpusPerNode = Optional.empty();

    @Option(
            names = "--training-nodes",
            paramLabel = "T",
            description = "Short for --set agent.training-nodes=T. Default: half of the nodes.")
    private Optional<String> trainingNodes = Optional.empty();

    @Option(names = "--once", description = "Publish inventory and one sample, then end.")
    private boolean once;

    @Option(names = "--json", description = "Print what is published, a JSON object a line.")
    private boolean json;

    @Option(
            names = "--dry-run",
            description = "Publish nothing: print what one sample would say. Needs neither broker nor registry.")
    private boolean dryRun;

    @Override
    protected String service() {
        return "agent";
    }

    @Override
    protected List<Key<?>> keys() {
        return AgentKeys.ALL;
    }

    @Override
    protected List<Topic<?>> topics() {
        return List.of(
                TopicCatalogue.NODES,
                TopicCatalogue.GPU_TELEMETRY,
                TopicCatalogue.LEASES,
                TopicCatalogue.DECISIONS,
                TopicCatalogue.ACTUATION_REPORTS,
                TopicCatalogue.PROGRESS);
    }

    @Override
    protected List<String> options() {
        var settings = new ArrayList<String>();
        domain.ifPresent(value -> settings.add("agent.domain=" + value));
        nodes.ifPresent(value -> settings.add("agent.nodes=" + value));
        gpusPerNode.ifPresent(value -> settings.add("agent.gpus-per-node=" + value));
        trainingNodes.ifPresent(value -> settings.add("agent.training-nodes=" + value));
        return settings;
    }

    @Override
    protected boolean needsKafka() {
        return !dryRun;
    }

    @Override
    protected void check(ServiceContext context) {
        layout(context.settings());
    }

    @Override
    protected int serve(ServiceContext context) {
        SimulatedNodes.Layout layout = layout(context.settings());
        if (dryRun) {
            Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
            SimulatedNodes simulated = simulated(context.settings(), layout, now);
            List<GpuTelemetry> samples = simulated.sampleNow(now);
            if (json) {
                print(simulated.inventory(), samples);
            } else {
                Table.of(simulated.inventory(), samples).forEach(out::println);
            }
            return DONE;
        }
        try (RecordWriter writer = context.writer();
                RecordReader reader = context.reader(writer)) {
            var agent = new SimulatedAgent(
                    writer,
                    reader,
                    layout.domain(),
                    layout.cutNodes() > 0,
                    start -> simulated(context.settings(), layout, start),
                    json ? this::print : (inventory, samples) -> {});
            if (once) {
                agent.publishOnce(Instant.now().truncatedTo(ChronoUnit.MILLIS));
            } else if (context.isVirtual()) {
                agent.followTheEnvironment(context.health(), context.stop()::isRequested);
            } else {
                agent.followTheWallClock(context.health(), context.stop());
            }
            return DONE;
        }
    }

    private SimulatedNodes simulated(Settings settings, SimulatedNodes.Layout layout, Instant start) {
        String boot = UUID.randomUUID().toString().substring(0, 8);
        return switch (backend) {
            case SIMULATED -> new SimulatedNodes(layout, start, settings.get(AgentKeys.PERIOD), boot);
        };
    }

    private static SimulatedNodes.Layout layout(Settings settings) {
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
        return new SimulatedNodes.Layout(
                new DomainId(settings.get(AgentKeys.DOMAIN)),
                nodes,
                settings.get(AgentKeys.GPUS_PER_NODE),
                training,
                cuttable,
                settings.get(AgentKeys.SEED));
    }

    private void print(List<Node> inventory, List<GpuTelemetry> samples) {
        inventory.forEach(node -> out.println(Codecs.encode(TopicCatalogue.NODES, node)));
        samples.forEach(sample -> out.println(Codecs.encode(TopicCatalogue.GPU_TELEMETRY, sample)));
    }
}
