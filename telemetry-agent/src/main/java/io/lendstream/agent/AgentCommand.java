package io.lendstream.agent;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.http.GpuPages;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Publishes inventory and telemetry of nodes, and the request rates of their servers. */
@Command(
        name = "agent",
        description =
                "Publishes a node's inventory (nodes), samples of its GPUs (gpu-telemetry), and the rate of requests to its"
                        + " servers (request-rates).",
        footer = {
            "",
            "Rate presets, for agent.rate-endpoints=PRESET@URL:",
            "  dynamo, envoy, generic, istio, kserve, nginx, nginx-ingress, nginx-vts, ray-serve, torchserve, triton,"
                    + " vllm",
            "",
            "Examples:",
            "  lendstream agent --once --dry-run",
            "  lendstream agent --bootstrap-server broker:9092 --domain east \\",
            "      --set agent.rate-endpoints=vllm@http://localhost:8000/metrics",
            "  lendstream agent --backend simulated --nodes 4 --gpus-per-node 8 \\",
            "      --training-nodes 2"
        })
final class AgentCommand extends ServiceCommand {
    private static final Logger LOG = LoggerFactory.getLogger(AgentCommand.class);

    private final PrintStream out;
    private volatile Optional<NodeWatch> watch = Optional.empty();

    private Optional<BestBackend.Choice> chosen = Optional.empty();

    AgentCommand(PrintStream out) {
        this.out = out;
    }

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            converter = BackendNames.class,
            description = {
                "Source of samples: nvml, dcgm, simulated or recorded.",
                "Default: dcgm if agent.dcgm-url is set, else the best available: nvml, or a dcgm-exporter on"
                        + " port 9400.",
                "Short for --set agent.backend=NAME."
            })
    private Optional<Backend> backend = Optional.empty();

    /** The backends' names on the command line. */
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

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Number of simulated nodes. Short for --set agent.nodes=N.")
    private Optional<String> nodes = Optional.empty();

    @Option(
            names = "--gpus-per-node",
            paramLabel = "G",
            description = "Number of GPUs of each simulated node. Short for --set agent.gpus-per-node=G.")
    private Optional<String> gpusPerNode = Optional.empty();

    @Option(
            names = "--training-nodes",
            paramLabel = "T",
            description =
                    "Number of simulated nodes in the training pool. Short for --set agent.training-nodes=T. Default: half of the"
                            + " nodes.")
    private Optional<String> trainingNodes = Optional.empty();

    @Option(
            names = "--once",
            description = {
                "Print the inventory and one sample, publish them, and exit.",
                "Without a broker they are printed anyway; an error names the unpublished records, and the exit status"
                        + " is 1. It is also 1 if neither a GPU nor a request rate was read."
            })
    private boolean once;

    @Option(names = "--json", description = "Print the published records, one JSON object a line.")
    private boolean json;

    @Option(
            names = "--dry-run",
            description = "Print one sample without publishing it. Needs neither broker nor registry.")
    private boolean dryRun;

    @Override
    protected ServiceName service() {
        return ServiceName.AGENT;
    }

    @Override
    protected List<Key<?>> keys() {
        return AgentKeys.ALL;
    }

    @Override
    protected boolean writesToIntake() {
        return true;
    }

    @Override
    protected List<Topic<?>> topics() {
        return List.of(
                TopicCatalogue.NODES,
                TopicCatalogue.GPU_TELEMETRY,
                TopicCatalogue.REQUEST_RATES,
                TopicCatalogue.LEASES,
                TopicCatalogue.DECISIONS,
                TopicCatalogue.ACTUATION_REPORTS,
                TopicCatalogue.PROGRESS);
    }

    @Override
    protected List<String> options() {
        var settings = new ArrayList<String>();
        backend.ifPresent(value -> settings.add("agent.backend=" + value));
        domain.ifPresent(value -> settings.add("agent.domain=" + value));
        nodes.ifPresent(value -> settings.add("agent.nodes=" + value));
        gpusPerNode.ifPresent(value -> settings.add("agent.gpus-per-node=" + value));
        trainingNodes.ifPresent(value -> settings.add("agent.training-nodes=" + value));
        return settings;
    }

    /**
     * A node's agent starts without a broker, and queues its records until one answers; with --once it prints first.
     */
    @Override
    protected boolean needsKafka(Settings settings) {
        return !dryRun
                && !once
                && settings.get(AgentKeys.BACKEND)
                        .filter(from -> from == Backend.SIMULATED)
                        .isPresent();
    }

    @Override
    protected boolean runsUnattended() {
        return !dryRun && !once;
    }

    @Override
    protected Map<String, Supplier<String>> pages() {
        return Map.of("/dcgm/metrics", () -> page(GpuPages::dcgm), "/hw/metrics", () -> page(GpuPages::hardware));
    }

    private String page(BiFunction<NodeId, GpuSnapshot, String> writer) {
        return watch.flatMap(seen -> seen.latest().map(sight -> writer.apply(seen.node(), sight)))
                .orElse("");
    }

    @Override
    protected void check(ServiceContext context) {
        Backend from = backend(context.settings()).backend();
        if (from == Backend.SIMULATED) {
            if (!context.settings().get(AgentKeys.RATE_ENDPOINTS).isEmpty()) {
                throw new SettingsException(
                        "agent.rate-endpoints has no effect with agent.backend=simulated. Leave it out, and start a second agent without this backend and with another agent.node, which reads %s."
                                .formatted(String.join(", ", context.settings().get(AgentKeys.RATE_ENDPOINTS))));
            }
            SimulatedRun.of(context.settings(), context.isVirtual());
            return;
        }
        if (nodes.isPresent() || gpusPerNode.isPresent() || trainingNodes.isPresent()) {
            throw new SettingsException(
                    "--nodes, --gpus-per-node and --training-nodes set up simulated nodes, but the backend is %s. Add --backend simulated, or leave them out."
                            .formatted(from));
        }
        new NodeRun(context, from).check();
    }

    @Override
    protected int serve(ServiceContext context) throws InterruptedException {
        BestBackend.Choice choice = backend(context.settings());
        choice.remark().ifPresent(LOG::warn);
        Backend from = choice.backend();
        var printer = new Printer(out, json);
        if (from == Backend.SIMULATED) {
            SimulatedRun simulated = SimulatedRun.of(context.settings(), context.isVirtual());
            if (dryRun || once) {
                simulated.once(context, !dryRun, printer);
            } else {
                simulated.serve(context, printer);
            }
            return DONE;
        }
        var node = new NodeRun(context, from);
        if (dryRun || once) {
            node.once(!dryRun, printer);
        } else {
            node.serve(seen -> watch = Optional.of(seen));
        }
        return DONE;
    }

    /** Chosen once: the checked backend is the one that serves. */
    private BestBackend.Choice backend(Settings settings) {
        if (chosen.isEmpty()) {
            chosen = Optional.of(BestBackend.HERE.of(settings));
        }
        return chosen.get();
    }
}
