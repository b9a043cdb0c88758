package io.lendstream.launcher;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.workload.LoanSize;
import io.lendstream.simulator.workload.Presets;
import io.lendstream.simulator.workload.WorkloadCluster;
import io.lendstream.simulator.workload.WorkloadGroups;
import io.lendstream.simulator.workload.Workloads;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The options of replay for nodes: kinds, racks, NVLink domains, hosts; what is lent, and who picks GPUs there. */
final class KindOptions {
    private static final Pattern KIND = Pattern.compile("(\\w{1,20}):([1-9]\\d{0,4})");

    private static final int MOST_NODES = 100_000;
    /** Of CPUs, and of GiB. */
    private static final int MOST_HOST = 1_000_000;

    private static final long GIB = 1L << 30;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--kinds",
            paramLabel = "KIND:NODES[,...]",
            description = {
                "Nodes of several kinds of GPU, such as A100:4,T4:8, spread evenly over training and inference. Kinds: A100, "
                        + "H100, L4, RTX6000, T4, V100. Jobs without kindRatios, and services without kindCapacities, are as fast on each of "
                        + "them.",
                "Default: A100 on all nodes, but three kinds with the preset hetero."
            })
    private Optional<String> kinds = Optional.empty();

    @Option(
            names = "--lend",
            paramLabel = "slice|gpu|node|group[:LABEL]",
            defaultValue = LoanSize.DEFAULT,
            description = {
                "The least that is lent and taken back: a MIG instance (mig in nodeGroups), a GPU, all GPUs of a node, or all GPUs of a group of nodes.",
                "A group has all inference nodes, or those with one value of a label: group:rack, group:nvlink-domain, or a label of nodeGroups.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String lend = LoanSize.DEFAULT;

    @Option(
            names = "--units",
            paramLabel = "driver|device-plugin",
            defaultValue = "driver",
            description =
                    "Who picks the GPUs of a node: the driver, by their names, or a device plugin, as in Kubernetes. With a device plugin names stand for slots, and only agents show who has which GPU. Default: ${DEFAULT-VALUE}.")
    private String units = "driver";

    @Option(
            names = "--nodes-per-nvlink-domain",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Nodes of each NVLink domain, for jobs with a topology. Default: each node is one; the preset teams has its own.")
    private int nodesPerNvlinkDomain;

    @Option(
            names = "--nodes-per-rack",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Nodes of each rack, for jobs with a topology. Default: each node is one; the preset teams has its own.")
    private int nodesPerRack;

    @Option(
            names = "--cpus-per-node",
            paramLabel = "N",
            defaultValue = "0",
            description = "CPUs of each node, for jobs that need some. Default: they are not limited.")
    private int cpusPerNode;

    @Option(
            names = "--host-gib-per-node",
            paramLabel = "GIB",
            defaultValue = "0",
            description =
                    "Host memory of each node in GiB, for jobs that need some or are paused. Default: not limited.")
    private int hostGibPerNode;

    @Option(
            names = "--suspend",
            description =
                    "The actuator can pause jobs in host memory. It needs --host-gib-per-node, and jobs with costs of a pause.")
    private boolean suspend;

    /** Where the kinds come from, for errors about them. */
    private String kindsName = "--kinds";

    /** The nodes of a workload, if they are described in groups. */
    private WorkloadGroups groups = WorkloadGroups.NONE;

    /** What the simulated actuator can do. */
    Abilities abilities() {
        Abilities choice = switch (units) {
            case "driver" -> Abilities.USUAL;
            case "device-plugin" -> Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE);
            default ->
                throw UserError.badUsage("--units is '%s', but must be driver or device-plugin.".formatted(units));
        };
        Abilities picks = choice.withSuspend(suspend);
        return size().of(picks, groups.haveInstances());
    }

    private LoanSize size() {
        return LoanSize.of(lend)
                .orElseThrow(
                        () -> UserError.badUsage("--lend is '%s', but must be %s.".formatted(lend, LoanSize.FORMS)));
    }

    /** The options of a report: the nodes of each kind, as given or as the workload has them, and what is lent. */
    List<RunFacts.Parameter> parameters() {
        List<RunFacts.Parameter> parameters = new ArrayList<>();
        kinds.ifPresent(text -> parameters.add(new RunFacts.Parameter("kinds", text)));
        if (!groups.groups().isEmpty()) {
            parameters.add(new RunFacts.Parameter("groups of nodes", groups.inWords()));
        }
        if (!abilities().lendsSlices()) {
            parameters.add(new RunFacts.Parameter("lend", lend));
        }
        if (!abilities().choosesUnits()) {
            parameters.add(new RunFacts.Parameter("GPUs of a node picked by", units));
        }
        if (nodesPerNvlinkDomain > 0) {
            parameters.add(new RunFacts.Parameter("nodes per NVLink domain", String.valueOf(nodesPerNvlinkDomain)));
        }
        if (nodesPerRack > 0) {
            parameters.add(new RunFacts.Parameter("nodes per rack", String.valueOf(nodesPerRack)));
        }
        if (cpusPerNode > 0) {
            parameters.add(new RunFacts.Parameter("CPUs per node", String.valueOf(cpusPerNode)));
        }
        if (hostGibPerNode > 0) {
            parameters.add(new RunFacts.Parameter("host GiB per node", String.valueOf(hostGibPerNode)));
        }
        if (suspend) {
            parameters.add(new RunFacts.Parameter("suspend", "true"));
        }
        return parameters;
    }

    /** Gives the nodes their domains, and their kinds; those of a preset, if none are given. */
    void apply(PlayOptions play, String workload) {
        ofWorkload(workload).ifPresent(own -> take(own, play));
        Abilities abilities = abilities();
        if (!abilities.equals(Abilities.USUAL)
                && spec.commandLine().getParseResult().hasMatchedOption("--published-timing")) {
            throw UserError.badUsage(
                    suspend
                            ? "--suspend must be left out with --published-timing, whose simulators do not pause jobs."
                            : abilities.lendsBundles()
                                    ? "--lend must be gpu with --published-timing, whose simulators lend each GPU alone."
                                    : "--units must be driver with --published-timing, whose simulators name each GPU.");
        }
        if (suspend && hostGibPerNode == 0) {
            throw UserError.badUsage("--suspend needs --host-gib-per-node: jobs are paused in host memory.");
        }
        takeDomains(workload);
        play.topology(topology());
        checkLabel();
        if (kinds.isEmpty()) {
            if (groups.groups().isEmpty()) {
                ofPreset(play, workload);
            }
            return;
        }
        kinds.ifPresent(text -> {
            ParseResult given = spec.commandLine().getParseResult();
            Map<SimulatedGpu, Integer> counts = parse(text);
            int sum = counts.values().stream().mapToInt(count -> count).sum();
            if (given.hasMatchedOption("--published-timing")) {
                throw UserError.badUsage(
                        "%s must be left out with --published-timing, whose simulators know one kind of GPU."
                                .formatted(kindsName));
            }
            if (given.hasMatchedOption("--nodes") && sum != play.nodes()) {
                throw UserError.badUsage("%s has %d nodes, but --nodes is %d; leave --nodes out."
                        .formatted(kindsName, sum, play.nodes()));
            }
            play.kinds(counts);
        });
    }

    /** Groups by a label that no node has would be one group of all nodes. */
    private void checkLabel() {
        size().label().filter(label -> !hasLabel(label)).ifPresent(label -> {
            throw UserError.badUsage("--lend is '%s', but no node has the label %s; give it with %s."
                    .formatted(
                            lend,
                            label,
                            switch (label) {
                                case SimulatedTopology.RACK -> "--nodes-per-rack, or rack in nodeGroups";
                                case SimulatedTopology.NVLINK_DOMAIN ->
                                    "--nodes-per-nvlink-domain, or nvlinkDomain in nodeGroups";
                                default -> "labels in nodeGroups of the section cluster";
                            }));
        });
    }

    private boolean hasLabel(String label) {
        return groups.hasLabel(label)
                || (nodesPerRack > 0 && label.equals(SimulatedTopology.RACK))
                || (nodesPerNvlinkDomain > 0 && label.equals(SimulatedTopology.NVLINK_DOMAIN));
    }

    private SimulatedTopology topology() {
        Bounds.check("--nodes-per-nvlink-domain", nodesPerNvlinkDomain, 0, MOST_NODES);
        Bounds.check("--nodes-per-rack", nodesPerRack, 0, MOST_NODES);
        Bounds.check("--cpus-per-node", cpusPerNode, 0, MOST_HOST);
        Bounds.check("--host-gib-per-node", hostGibPerNode, 0, MOST_HOST);
        return new SimulatedTopology(nodesPerNvlinkDomain, nodesPerRack)
                .with(SimulatedHost.of(cpusPerNode, hostGibPerNode * GIB));
    }

    private static Optional<WorkloadCluster> ofWorkload(String workload) {
        try {
            return Workloads.cluster(workload);
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
    }

    /** Takes the nodes of a workload in YAML, where the command line has no others. */
    private void take(WorkloadCluster own, PlayOptions play) {
        ParseResult given = spec.commandLine().getParseResult();
        play.cluster(own, given);
        if (!given.hasMatchedOption("--lend")) {
            lend = own.lend().orElse(lend);
        }
        if (kinds.isEmpty()) {
            takeGroups(own.groups(), given);
        }
        if (kinds.isEmpty() && !own.kinds().isEmpty()) {
            kinds = Optional.of(inWords(own.kinds()));
            kindsName = "kinds in the section cluster";
        }
        if (!given.hasMatchedOption("--nodes-per-nvlink-domain")) {
            nodesPerNvlinkDomain = own.topology().nodesPerNvlinkDomain();
        }
        if (!given.hasMatchedOption("--nodes-per-rack")) {
            nodesPerRack = own.topology().nodesPerRack();
        }
        if (!given.hasMatchedOption("--cpus-per-node")) {
            cpusPerNode = own.topology().host().cpus();
        }
        if (!given.hasMatchedOption("--host-gib-per-node")) {
            hostGibPerNode = (int) (own.topology().host().memoryBytes() / GIB);
        }
    }

    private void takeGroups(WorkloadGroups own, ParseResult given) {
        groups = own;
        checkDomains(given, "--nodes-per-rack", SimulatedTopology.RACK);
        checkDomains(given, "--nodes-per-nvlink-domain", SimulatedTopology.NVLINK_DOMAIN);
        if (!groups.groups().isEmpty() && given.hasMatchedOption("--published-timing")) {
            throw UserError.badUsage(
                    "nodeGroups in the section cluster must be left out with --published-timing, whose simulators know one kind of GPU.");
        }
    }

    private void checkDomains(ParseResult given, String option, String label) {
        if (given.hasMatchedOption(option) && groups.hasLabel(label)) {
            throw UserError.badUsage(
                    "%s must be left out, because nodeGroups in the section cluster have %s; leave one out."
                            .formatted(option, label));
        }
    }

    /** Takes the racks and NVLink domains of a preset, where the command line has none. */
    private void takeDomains(String workload) {
        ParseResult given = spec.commandLine().getParseResult();
        for (String name : workload.split(",", -1)) {
            SimulatedTopology own = Presets.topology(name.strip());
            if (own.nodesPerNvlinkDomain() > 0 && !given.hasMatchedOption("--nodes-per-nvlink-domain")) {
                nodesPerNvlinkDomain = own.nodesPerNvlinkDomain();
            }
            if (own.nodesPerRack() > 0 && !given.hasMatchedOption("--nodes-per-rack")) {
                nodesPerRack = own.nodesPerRack();
            }
        }
    }

    private static String inWords(Map<SimulatedGpu, Integer> counts) {
        return counts.entrySet().stream()
                .map(kind -> kind.getKey() + ":" + kind.getValue())
                .collect(Collectors.joining(","));
    }

    private void ofPreset(PlayOptions play, String workload) {
        for (String name : workload.split(",", -1)) {
            try {
                Map<SimulatedGpu, Integer> counts = Presets.kinds(name.strip(), play.nodes());
                if (!counts.isEmpty()) {
                    play.kinds(counts);
                    kinds = Optional.of(inWords(counts));
                }
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage("--nodes: %s.".formatted(e.getMessage()));
            }
        }
    }

    private static Map<SimulatedGpu, Integer> parse(String text) {
        Map<SimulatedGpu, Integer> counts = new EnumMap<>(SimulatedGpu.class);
        for (String part : text.split(",", -1)) {
            Matcher kind = KIND.matcher(part.strip());
            Optional<SimulatedGpu> gpu = kind.matches() ? SimulatedGpu.named(kind.group(1)) : Optional.empty();
            counts.merge(
                    gpu.orElseThrow(() -> UserError.badUsage(
                            "--kinds is '%s', but must be KIND:NODES between commas, such as A100:4,T4:8; kinds are %s."
                                    .formatted(text, SimulatedGpu.names()))),
                    Integer.parseInt(kind.group(2)),
                    Integer::sum);
        }
        return counts;
    }
}
