package io.lendstream.agent;

import io.lendstream.core.id.Pool;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Units;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The agent's settings. */
public final class AgentKeys {
    public static final Key<Optional<Backend>> BACKEND = Key.choice(
                    "agent.backend",
                    Backend.NVML,
                    "Where samples come from; nothing for dcgm where agent.dcgm-url is set, else for nvml where NVIDIA's library can be loaded, else for dcgm where an exporter tells of GPUs on port 9400 of this machine. Nodes are simulated only where it says so.")
            .optional();
    public static final Key<String> DOMAIN =
            Key.name("agent.domain", "default", "Domain of the nodes: within it GPUs may be lent.");
    public static final Key<Duration> PERIOD =
            Key.period("agent.period", "15s", "How often a sample of every node is taken.");

    public static final Key<Optional<String>> NODE = Key.name(
                    "agent.node", "node", "Name of this node; nothing for the machine's host name.")
            .optional();
    public static final Key<Pool> POOL = Key.choice(
            "agent.pool",
            List.of(Pool.INFERENCE, Pool.TRAINING),
            Pool.INFERENCE,
            "Whose this node's GPUs are while nobody lends them.");
    public static final Key<Duration> INVENTORY_EVERY = Key.period(
            "agent.inventory-every", "30s", "How often the inventory is published where nothing has changed.");
    public static final Key<List<String>> NVML_LIBRARIES = Key.words(
            "agent.nvml-libraries",
            "",
            "Paths or names of the driver's library NVML, in the order in which they are tried; nothing for the usual ones.");
    public static final Key<String> DCGM_URL = Key.text(
            "agent.dcgm-url", "", "Address of this node's dcgm-exporter, such as http://localhost:9400/metrics.");
    public static final Key<Optional<Path>> RECORDING = Key.path(
                    "agent.recording", "recording", "File that the recorded backend plays.")
            .optional();
    public static final Key<Duration> PROBE_PATIENCE =
            Key.period("agent.probe-patience", "5s", "How long one look at the GPUs may take.");
    public static final Key<Optional<Path>> MAINTENANCE_FILE = Key.path(
                    "agent.maintenance-file",
                    "maintenance",
                    "File that says, by being there, that the GPUs must be let go; the node is then published as paused.")
            .optional();
    public static final Key<Optional<Path>> MIG_STATE_FILE = Key.path(
                    "agent.mig-state-file",
                    "labels",
                    "File with the node's Kubernetes labels, a line key=\"value\" each; while nvidia.com/mig.config.state is pending there, the GPUs are let go.")
            .optional();

    public static final Key<Optional<Path>> POD_RESOURCES = Key.path(
                    "agent.pod-resources",
                    "kubelet.sock",
                    "The kubelet's socket, usually /var/lib/kubelet/pod-resources/kubelet.sock, by which samples tell which pods have a GPU; root's to read.")
            .optional();
    public static final Key<Boolean> SLURM = Key.flag(
            "agent.slurm",
            false,
            "Whether samples tell which of Slurm's jobs use a GPU, by the control groups of their processes; for the nvml backend, on the host.");

    public static final Key<Boolean> KUBERNETES = Key.flag(
            "agent.kubernetes",
            false,
            "Whether the API server is asked for this node's pods, whose annotations say where requests are counted, and for the state of its MIG; agent.node is then the node's name there.");
    public static final Key<String> KUBERNETES_URL = Key.text(
            "agent.kubernetes-url",
            "",
            "Address of the API server, such as https://10.96.0.1:443; nothing for the one that each pod is told of.");
    public static final Key<Path> KUBERNETES_ACCOUNT = Key.path(
            "agent.kubernetes-account",
            "/var/run/secrets/kubernetes.io/serviceaccount",
            "Directory of the service account, with token and ca.crt.");
    public static final Key<List<String>> POD_NAMESPACES = Key.words(
            "agent.pod-namespaces",
            "",
            "Namespaces whose pods may have their requests counted, between commas; nothing for all.");

    public static final Key<List<String>> RATE_ENDPOINTS = Key.words(
            "agent.rate-endpoints",
            "",
            "Where requests are counted: PRESET@URL between commas, such as vllm@http://localhost:8000/metrics; {node} is this node's name, and an endpoint with ;node=NAME is read by that node's agent alone; see docs/agent-rates.md.");
    public static final Key<Duration> RATE_PERIOD = new Key<>(
            "agent.rate-period",
            "a duration of at least 5s",
            "15s",
            "How often requests are counted; shorter windows say nothing of a rate.",
            text -> Units.duration(text).filter(length -> length.compareTo(Duration.ofSeconds(5)) >= 0));
    public static final Key<Duration> RATE_TIMEOUT =
            Key.period("agent.rate-timeout", "3s", "How long one endpoint may take to answer.");
    public static final Key<Long> RATE_LARGEST =
            Key.bytes("agent.rate-largest", "16MiB", "How much one endpoint may answer, unpacked.");
    public static final Key<Optional<Path>> RATE_TOKEN_FILE = Key.path(
                    "agent.rate-token-file", "token", "File with a bearer token for all endpoints, read each time.")
            .optional();
    public static final Key<Optional<Path>> RATE_PRESETS = Key.path(
                    "agent.rate-presets",
                    "presets",
                    "File with presets of the site, which go before ours of the same name.")
            .optional();
    public static final Key<List<String>> RATE_SERVICES = Key.words(
            "agent.rate-services",
            "",
            "What services are called by the name that servers give them: NAME=SERVICE between commas.");
    public static final Key<Boolean> RATE_ONLY_NAMED = Key.flag(
            "agent.rate-only-named",
            false,
            "Whether servers' names that agent.rate-services does not have are passed over.");
    public static final Key<String> RATE_SERVICE =
            Key.text("agent.rate-service", "", "Service of counters without a name; nothing to pass them over.");

    public static final Key<Optional<Path>> SPOOL_DIR = Key.path(
                    "agent.spool-dir",
                    "spool",
                    "Directory where records wait for the broker; without one they wait in memory, and a restart loses them.")
            .optional();
    public static final Key<Long> SPOOL_BYTES = Key.bytes(
            "agent.spool-bytes",
            "64MiB",
            "How much may wait; beyond it the oldest go first. In memory an eighth of it.");

    public static final Key<Integer> NODES = Key.count("agent.nodes", 1, 100_000, 16, "Simulated nodes.");
    public static final Key<Integer> GPUS_PER_NODE =
            Key.count("agent.gpus-per-node", 1, 64, 4, "GPUs of each simulated node.");
    public static final Key<Optional<Integer>> TRAINING_NODES = Key.count(
                    "agent.training-nodes",
                    0,
                    100_000,
                    0,
                    "How many of the simulated nodes, the first ones, are training's; nothing for half of them.")
            .optional();
    public static final Key<Integer> CUTTABLE_NODES = Key.count(
            "agent.cuttable-nodes",
            0,
            100_000,
            0,
            "How many of the simulated nodes, the last ones, have GPUs that may be cut into MIG instances.");
    public static final Key<Long> SEED = Key.number("agent.seed", 1, "Seed of the simulated samples.");

    public static final List<Key<?>> ALL = List.of(
            BACKEND,
            DOMAIN,
            PERIOD,
            NODE,
            POOL,
            INVENTORY_EVERY,
            NVML_LIBRARIES,
            DCGM_URL,
            RECORDING,
            PROBE_PATIENCE,
            MAINTENANCE_FILE,
            MIG_STATE_FILE,
            POD_RESOURCES,
            SLURM,
            KUBERNETES,
            KUBERNETES_URL,
            KUBERNETES_ACCOUNT,
            POD_NAMESPACES,
            RATE_ENDPOINTS,
            RATE_PERIOD,
            RATE_TIMEOUT,
            RATE_LARGEST,
            RATE_TOKEN_FILE,
            RATE_PRESETS,
            RATE_SERVICES,
            RATE_ONLY_NAMED,
            RATE_SERVICE,
            SPOOL_DIR,
            SPOOL_BYTES,
            NODES,
            GPUS_PER_NODE,
            TRAINING_NODES,
            CUTTABLE_NODES,
            SEED);

    private AgentKeys() {}
}
