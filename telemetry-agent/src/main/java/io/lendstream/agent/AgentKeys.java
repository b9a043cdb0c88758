package io.lendstream.agent;

import io.lendstream.core.event.NodeFacts;
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
                    "Source of samples. Empty: dcgm if agent.dcgm-url is set, else nvml if NVIDIA's library can be loaded, else dcgm if an exporter answers on port 9400. simulated and recorded must be set.")
            .optional();
    public static final Key<String> DOMAIN =
            Key.name("agent.domain", "default", "Domain of the nodes, within which GPUs may be lent.");
    public static final Key<Duration> PERIOD = Key.period("agent.period", "15s", "Interval of samples.");

    public static final Key<Optional<String>> NODE = Key.name(
                    "agent.node",
                    "node",
                    "Name of this node; empty for the host name. A simulated node has it if agent.nodes is 1.")
            .optional();
    public static final Key<Pool> POOL =
            Key.choice("agent.pool", List.of(Pool.INFERENCE, Pool.TRAINING), Pool.INFERENCE, "Pool of this node.");
    public static final Key<NodeFacts> LABELS = new Key<>(
            "agent.labels",
            "labels KEY=VALUE between commas",
            "",
            "Labels of this node that the scheduler may read: KEY=VALUE between commas, such as topology.example.com/rack=r12. See scheduler.topology.rack.",
            NodeLabels::parse);
    public static final Key<Optional<Integer>> CPUS = Key.count(
                    "agent.cpus",
                    0,
                    100_000,
                    0,
                    "CPUs that jobs may use on this node; empty for all of the machine, 0 to leave them out of the inventory. A simulated node has none unless it is set.")
            .optional();
    public static final Key<Optional<Long>> HOST_MEMORY = Key.bytes(
                    "agent.host-memory",
                    "0B",
                    "Host memory that jobs may use on this node; empty for all of the machine, 0B to leave it out of the inventory. A simulated node has none unless it is set.")
            .optional();
    public static final Key<Optional<Path>> LABELS_FILE = Key.path(
                    "agent.labels-file",
                    "labels",
                    "File with more labels of this node, one KEY=VALUE or KEY=\"VALUE\" a line, read at the start. agent.labels comes first.")
            .optional();
    public static final Key<Duration> INVENTORY_EVERY =
            Key.period("agent.inventory-every", "30s", "Interval of the inventory if nothing changes.");
    public static final Key<List<String>> NVML_LIBRARIES = Key.words(
            "agent.nvml-libraries",
            "",
            "Paths or names of the NVML library, tried in order; empty for the usual ones.");
    public static final Key<String> DCGM_URL = Key.text(
            "agent.dcgm-url", "", "Address of this node's dcgm-exporter, such as http://localhost:9400/metrics.");
    public static final Key<Optional<Path>> RECORDING = Key.path(
                    "agent.recording", "recording", "File for the recorded backend.")
            .optional();
    public static final Key<Duration> PROBE_PATIENCE =
            Key.period("agent.probe-patience", "5s", "Timeout of one sampling of the GPUs.");
    public static final Key<Optional<Path>> MAINTENANCE_FILE = Key.path(
                    "agent.maintenance-file",
                    "maintenance",
                    "While this file exists, the agent releases the GPUs and publishes the node as paused.")
            .optional();
    public static final Key<Optional<Path>> MIG_STATE_FILE = Key.path(
                    "agent.mig-state-file",
                    "labels",
                    "File with the node's Kubernetes labels, one key=\"value\" a line. While nvidia.com/mig.config.state is pending, the agent releases the GPUs.")
            .optional();

    public static final Key<Optional<Path>> POD_RESOURCES = Key.path(
                    "agent.pod-resources",
                    "kubelet.sock",
                    "Socket of the kubelet, usually /var/lib/kubelet/pod-resources/kubelet.sock, to find the pods of a GPU. Needs root.")
            .optional();
    public static final Key<Boolean> SLURM = Key.flag(
            "agent.slurm",
            false,
            "Report which Slurm jobs use a GPU, from the control groups of processes. Needs the nvml backend, on the host.");
    public static final Key<Optional<Boolean>> PROCESSES = Key.flag(
                    "agent.processes",
                    false,
                    "Name the processes on a GPU that no pod or Slurm job names: process/PID-START, or the tenant of the process driver. Needs the nvml backend. Empty: true if the agent has the PIDs of the host. Set true only where the driver reports the agent's own PIDs.")
            .optional();
    public static final Key<List<String>> IGNORED_USERS = Key.words(
            "agent.ignored-users",
            "nvidia-cuda-mps-*",
            "File names of programs whose processes are no users of a GPU, between commas; with * at the end all that start so.");

    public static final Key<Boolean> KUBERNETES = Key.flag(
            "agent.kubernetes",
            false,
            "Read this node's pods and MIG state from the API server. Annotations of the pods name the counters of requests. agent.node must be the node's name in Kubernetes.");
    public static final Key<String> KUBERNETES_URL = Key.text(
            "agent.kubernetes-url",
            "",
            "Address of the API server, such as https://10.96.0.1:443; empty for the pod's own.");
    public static final Key<Path> KUBERNETES_ACCOUNT = Key.path(
            "agent.kubernetes-account",
            "/var/run/secrets/kubernetes.io/serviceaccount",
            "Directory of the service account with token and ca.crt.");
    public static final Key<List<String>> POD_NAMESPACES = Key.words(
            "agent.pod-namespaces", "", "Namespaces whose pods may be counted, between commas; empty for all.");

    public static final Key<List<String>> RATE_ENDPOINTS = Key.words(
            "agent.rate-endpoints",
            "",
            "Counters of requests: PRESET@URL between commas, such as vllm@http://localhost:8000/metrics. {node} is this node's name. Only the agent of NAME reads an endpoint with ;node=NAME. See docs/agent-rates.md.");
    public static final Key<Duration> RATE_PERIOD = new Key<>(
            "agent.rate-period",
            "a duration of at least 5s",
            "15s",
            "Interval of counting requests. Shorter windows give no useful rate.",
            text -> Units.duration(text).filter(length -> length.compareTo(Duration.ofSeconds(5)) >= 0));
    public static final Key<Duration> RATE_TIMEOUT = Key.period("agent.rate-timeout", "3s", "Timeout of an endpoint.");
    public static final Key<Long> RATE_LARGEST =
            Key.bytes("agent.rate-largest", "16MiB", "Largest answer of an endpoint, uncompressed.");
    public static final Key<Optional<Path>> RATE_TOKEN_FILE = Key.path(
                    "agent.rate-token-file", "token", "File with a bearer token for all endpoints, read each time.")
            .optional();
    public static final Key<Optional<Path>> RATE_PRESETS = Key.path(
                    "agent.rate-presets",
                    "presets",
                    "File with own presets; they replace built-in ones of the same name.")
            .optional();
    public static final Key<List<String>> RATE_SERVICES =
            Key.words("agent.rate-services", "", "Service names for servers' names: NAME=SERVICE between commas.");
    public static final Key<Boolean> RATE_ONLY_NAMED =
            Key.flag("agent.rate-only-named", false, "Ignore servers' names that agent.rate-services does not list.");
    public static final Key<String> RATE_SERVICE =
            Key.text("agent.rate-service", "", "Service for counters without a name; empty to ignore them.");

    public static final Key<Optional<Path>> SPOOL_DIR = Key.path(
                    "agent.spool-dir",
                    "spool",
                    "Directory for records that wait for the broker. Without it they wait in memory, and a restart loses them.")
            .optional();
    public static final Key<Long> SPOOL_BYTES = Key.bytes(
            "agent.spool-bytes",
            "64MiB",
            "Limit of waiting records; beyond it the oldest are dropped. An eighth of it in memory.");

    public static final Key<Integer> NODES = Key.count("agent.nodes", 1, 100_000, 16, "Number of simulated nodes.");
    public static final Key<Integer> GPUS_PER_NODE =
            Key.count("agent.gpus-per-node", 1, 64, 4, "GPUs of each simulated node.");
    public static final Key<Optional<Integer>> TRAINING_NODES = Key.count(
                    "agent.training-nodes",
                    0,
                    100_000,
                    0,
                    "Number of simulated nodes, from the first one, in the training pool; empty for half.")
            .optional();
    public static final Key<Integer> CUTTABLE_NODES = Key.count(
            "agent.cuttable-nodes",
            0,
            100_000,
            0,
            "Number of simulated nodes, from the last one, with GPUs that may be cut into MIG instances.");
    public static final Key<Long> SEED = Key.number("agent.seed", 1, "Seed of the simulated samples.");
    public static final Key<Boolean> SIMULATED_PROCESSES = Key.flag(
            "agent.simulated.processes",
            false,
            "A simulated GPU has the processes of this host as users whose CUDA_VISIBLE_DEVICES names it, by UUID or, with agent.nodes=1, by index.");

    public static final List<Key<?>> ALL = List.of(
            BACKEND,
            DOMAIN,
            PERIOD,
            NODE,
            POOL,
            LABELS,
            CPUS,
            HOST_MEMORY,
            LABELS_FILE,
            INVENTORY_EVERY,
            NVML_LIBRARIES,
            DCGM_URL,
            RECORDING,
            PROBE_PATIENCE,
            MAINTENANCE_FILE,
            MIG_STATE_FILE,
            POD_RESOURCES,
            SLURM,
            PROCESSES,
            IGNORED_USERS,
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
            SEED,
            SIMULATED_PROCESSES);

    private AgentKeys() {}
}
