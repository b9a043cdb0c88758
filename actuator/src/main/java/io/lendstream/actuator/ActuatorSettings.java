package io.lendstream.actuator;

import io.lendstream.actuator.driver.ClusterLookup;
import io.lendstream.actuator.driver.CommandDriver;
import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverLimits;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.actuator.driver.DryRun;
import io.lendstream.actuator.driver.Machine;
import io.lendstream.actuator.driver.ProcessDriver;
import io.lendstream.actuator.driver.ProcessPlan;
import io.lendstream.actuator.driver.Programs;
import io.lendstream.actuator.driver.RendezvousPorts;
import io.lendstream.actuator.driver.ShownAddress;
import io.lendstream.actuator.driver.WebhookDriver;
import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of an actuator.
 *
 * @param name its name in reports; a restart under the same name continues from the saved state
 * @param domains domains whose decisions it executes; empty for all
 * @param scope nodes whose decisions it executes
 * @param standby whether other instances of the same name take over
 * @param stateDir directory for its state; without it, each start reads the topics from the beginning
 * @param dryRun whether decisions are only logged, and reported as in force at once
 * @param leaseNotice how long a job may take to leave a GPU after its lease has expired
 * @param stockEvery interval of ownership reports, by the wall clock
 * @param abilities what the driver can do, as the scheduler is to plan
 * @param choice the driver that executes decisions
 */
record ActuatorSettings(
        String name,
        List<DomainId> domains,
        NodeScope scope,
        boolean standby,
        Optional<Path> stateDir,
        DriverKind driver,
        boolean dryRun,
        Duration leaseNotice,
        Duration stockEvery,
        Abilities abilities,
        DriverChoice choice) {
    private static final Logger LOG = LoggerFactory.getLogger(ActuatorSettings.class);

    static final Key<String> NAME = Key.name(
            "actuator.name",
            "actuator",
            "Name in reports. A restart under the same name continues from the saved state.");
    static final Key<List<String>> DOMAINS =
            Key.names("actuator.domains", "", "Domains whose decisions it executes; empty for all.");
    static final Key<List<String>> NODES = Key.names(
            "actuator.nodes",
            "",
            "Nodes whose decisions it executes, or all for all nodes of its domains. Empty: all; with the process driver only the node with this machine's host name. No other actuator may cover them.");
    static final Key<Optional<Path>> STATE_DIR = Key.path(
                    "actuator.state-dir",
                    ".",
                    "Directory of its state. Without it the actuator reads the topics from the beginning at start.")
            .optional();
    static final Key<Boolean> STANDBY = Key.flag(
            "actuator.standby",
            false,
            "Whether instances with this name, also on other machines, are one actuator, of which one is active. Not with the process driver.");
    static final Key<DriverKind> DRIVER =
            Key.choice("actuator.driver", DriverKind.SIMULATED, "Driver that executes decisions.");
    static final Key<LeastLoan> GRANULARITY = Key.choice(
            "actuator.granularity",
            LeastLoan.SLICE,
            "The least that the system behind the driver lends: a MIG instance, a GPU, a node, or all nodes of this actuator.");
    static final Key<String> GROUP_LABEL = Key.text(
            "actuator.group-label",
            "",
            "With actuator.granularity=nodes: the label of nodes that names the group that is lent together, such as a rack. Empty: all nodes of this actuator are one group. Agents send the label if agent.labels has it.");
    static final Key<Optional<Boolean>> SPANS_NODES = Key.flag(
                    "actuator.spans-nodes",
                    true,
                    "Whether the system behind the driver runs one job on several nodes. Empty: true, but false for the process driver with one node. True there: other machines reach this one, and a job may have GPUs of several.")
            .optional();
    static final Key<String> PORTS = Key.text(
            "actuator.rendezvous-ports",
            "29500-29999",
            "Ports at which the workers of a job over several machines meet, for the process driver. The same on all machines.");
    static final Key<Boolean> MIG = Key.flag(
            "actuator.mig",
            true,
            "Whether the system behind the driver changes MIG instances. The process driver never does.");
    static final Key<Boolean> SUSPEND = Key.flag(
            "actuator.suspend",
            false,
            "Whether the system behind the driver can pause a job: it leaves its GPUs, and its state stays in host memory. The process driver cannot.");
    static final Key<Boolean> DRY_RUN =
            Key.flag("actuator.dry-run", false, "Only log what the driver would do, and report success at once.");
    static final Key<Path> PROGRAMS = Key.path(
            "actuator.process.programs",
            "/etc/lendstream/programs",
            "Directory of this node's programs: jobs/APPLICATION.json and services/SERVICE.json.");
    static final Key<Boolean> SUBMITTED = Key.flag(
            Programs.SUBMITTED,
            false,
            "Whether the process driver runs the commands that jobs bring, as of `lendstream run`. With true, each writer of topic training-jobs runs commands as the user of the actuator.");
    static final Key<List<String>> ENVIRONMENT = Key.words(
            "actuator.environment",
            "",
            "Environment variables that jobs, replicas and commands inherit, beside PATH, HOME, LANG, TZ, CUDA_* and similar. NAME* matches a prefix. LENDSTREAM_* never pass.");
    static final Key<List<String>> COMMAND = Key.words(
            "actuator.command",
            "",
            "Program and arguments of the command driver. It gets each order as JSON on standard input.");
    static final Key<String> WEBHOOK =
            Key.text("actuator.webhook.url", "", "Address that gets every order of the webhook driver as JSON (POST).");
    static final Key<Optional<Path>> TOKEN = Key.path(
                    "actuator.webhook.token-file", ".", "File with the bearer token for that address; empty for none.")
            .optional();
    static final Key<Integer> CONCURRENCY =
            Key.count("actuator.concurrency", 1, 1000, 8, "Parallel orders of the command and webhook drivers.");
    static final Key<Double> RATE = Key.decimal(
            "actuator.rate",
            0.01,
            1000,
            10,
            "Orders per second that the command and webhook drivers start. Kills never wait.");
    static final Key<Duration> TIMEOUT =
            Key.period("actuator.timeout", "60s", "Timeout of one attempt of the command or webhook driver.");
    static final Key<Duration> LEASE_NOTICE = Key.period(
            "actuator.lease-notice",
            "45s",
            "How long a job may take to leave a GPU after its lease has expired; then it is forced off the GPU.");
    static final Key<Duration> STOCK_EVERY = Key.period(
            "actuator.stock-every",
            "60s",
            "Interval of ownership reports, from which the scheduler detects ownership drift. Off in accelerated runs.");
    static final Key<Boolean> PUBLISHED = Key.flag(
            "actuator.simulated.published-timing",
            false,
            "Delays of DeepBoot's published simulator: instant transfers; each change starts a job's pause again.");
    static final Key<Duration> AFE_RELEASE = Key.duration(
            "actuator.simulated.afe-release",
            "1s",
            "From a job's shrink to the end of the training step at which workers leave.");
    static final Key<Duration> RESTART_RELEASE = Key.duration(
            "actuator.simulated.restart-release", "4s", "From a job's restart to the end of its old processes.");
    static final Key<Duration> BIND =
            Key.duration("actuator.simulated.bind", "3s", "Until a job's process runs on a gained GPU.");
    static final Key<Duration> DRAIN =
            Key.duration("actuator.simulated.drain", "2s", "Until a stopped replica is gone.");
    static final Key<Double> JITTER = Key.decimal(
            "actuator.simulated.jitter", 0, 0.99, 0, "Largest random change of every delay, as a fraction of it.");
    static final Key<Double> STUCK = Key.fraction(
            "actuator.simulated.stuck-releases", 0, "Share of releases in which the tenant must be killed.");
    static final Key<Double> FAILED =
            Key.fraction("actuator.simulated.failed-binds", 0, "Share of binds in which the tenant does not start.");
    static final Key<Double> SILENCE =
            Key.fraction("actuator.simulated.silence", 0, "Share of decisions that are executed without a report.");
    static final Key<Long> SEED = Key.number("actuator.simulated.seed", 0, "Seed of jitter and failures.");

    static final List<Key<?>> KEYS = List.of(
            NAME,
            DOMAINS,
            NODES,
            STATE_DIR,
            STANDBY,
            DRIVER,
            GRANULARITY,
            GROUP_LABEL,
            SPANS_NODES,
            PORTS,
            MIG,
            SUSPEND,
            DRY_RUN,
            PROGRAMS,
            SUBMITTED,
            ENVIRONMENT,
            COMMAND,
            WEBHOOK,
            TOKEN,
            CONCURRENCY,
            RATE,
            TIMEOUT,
            LEASE_NOTICE,
            STOCK_EVERY,
            PUBLISHED,
            AFE_RELEASE,
            RESTART_RELEASE,
            BIND,
            DRAIN,
            JITTER,
            STUCK,
            FAILED,
            SILENCE,
            SEED);

    static ActuatorSettings of(Settings settings) {
        DriverKind driver = settings.get(DRIVER);
        boolean dryRun = settings.get(DRY_RUN);
        String name = settings.get(NAME);
        Optional<Path> stateDir = settings.get(STATE_DIR);
        NodeScope scope = NodeScope.of(settings, driver);
        Abilities abilities = abilities(settings, driver, scope);
        boolean standby = settings.get(STANDBY);
        if (standby && driver == DriverKind.PROCESS) {
            throw new SettingsException(
                    "actuator.standby is true, but actuator.driver is process, whose jobs and replicas run on this machine only. Leave actuator.standby out: a second instance with the same actuator.state-dir takes over on this machine.");
        }
        return new ActuatorSettings(
                dryRun ? name + " (dry run)" : name,
                settings.get(DOMAINS).stream().map(DomainId::new).toList(),
                scope,
                standby,
                stateDir,
                driver,
                dryRun,
                settings.get(LEASE_NOTICE),
                settings.get(STOCK_EVERY),
                abilities,
                choice(settings, driver, dryRun, stateDir, abilities, scope));
    }

    private static DriverChoice choice(
            Settings settings,
            DriverKind driver,
            boolean dryRun,
            Optional<Path> stateDir,
            Abilities abilities,
            NodeScope scope) {
        return switch (driver) {
            case SIMULATED ->
                new DriverChoice.Simulated(dryRun ? change -> ChangeTiming.AT_ONCE : simulated(settings), abilities);
            case PROCESS -> processes(settings, dryRun, stateDir, abilities, scope);
            case COMMAND ->
                outside(
                        driver,
                        dryRun,
                        abilities,
                        driverListener -> new CommandDriver(
                                settings.get(COMMAND), environment(settings), limits(settings), driverListener));
            case WEBHOOK ->
                outside(
                        driver,
                        dryRun,
                        abilities,
                        driverListener -> new WebhookDriver(
                                address(settings.get(WEBHOOK)), settings.get(TOKEN), limits(settings), driverListener));
        };
    }

    /** Creates drivers, if decisions are not simulated. */
    Optional<Driven> driven() {
        return choice instanceof Driven driven ? Optional.of(driven) : Optional.empty();
    }

    private static Abilities abilities(Settings settings, DriverKind driver, NodeScope scope) {
        LeastLoan least = settings.get(GRANULARITY);
        String label = settings.get(GROUP_LABEL).strip();
        if (!label.isEmpty() && least != LeastLoan.NODES) {
            throw new SettingsException(
                    "%s is '%s', but %s is %s, so no groups of nodes are lent. Set it to nodes, or leave the label out."
                            .formatted(
                                    GROUP_LABEL.name(),
                                    label,
                                    GRANULARITY.name(),
                                    least.name().toLowerCase(Locale.ROOT)));
        }
        Abilities usual = label.isEmpty()
                ? Abilities.USUAL.withGranularity(least.granularity())
                : Abilities.USUAL.inGroupsBy(label);
        boolean isOfOneHost = driver == DriverKind.PROCESS && scope.nodes().size() == 1;
        return usual.withSpansNodes(settings.get(SPANS_NODES).orElse(!isOfOneHost))
                .withMig(settings.get(MIG) && driver != DriverKind.PROCESS)
                .withSuspend(settings.get(SUSPEND) && driver != DriverKind.PROCESS);
    }

    private static Driven processes(
            Settings settings, boolean dryRun, Optional<Path> stateDir, Abilities abilities, NodeScope scope) {
        RendezvousPorts ports = RendezvousPorts.of(settings.get(PORTS))
                .orElseThrow(() -> new SettingsException(
                        "%s is '%s', but must be two ports with at least 16 from the first to the last, such as 29500-29999. Change it, or leave it out."
                                .formatted(PORTS.name(), settings.get(PORTS))));
        Optional<Machine> machine = abilities.spansNodes() ? Machine.of(scope.nodes(), ports) : Optional.empty();
        Programs programs = new Programs(settings.get(PROGRAMS), settings.get(SUBMITTED));
        refuse(new ProcessPlan(programs, machine, ClusterLookup.NOTHING).complaints());
        if (dryRun) {
            return new Driven(
                    DriverKind.PROCESS,
                    false,
                    abilities,
                    (surroundings, driverListener) -> new DryRun(
                            new ProcessPlan(programs, machine, surroundings)::of, driverListener, LOG::info));
        }
        Path state = stateDir.orElseThrow(
                        () -> new SettingsException(
                                "actuator.state-dir is not set, but the process driver needs it to find its processes after a restart. Set it to a directory."))
                .resolve("processes");
        refuse(ProcessDriver.complaint(state).stream().toList());
        CleanEnvironment environment = environment(settings);
        return new Driven(
                DriverKind.PROCESS,
                false,
                abilities,
                (surroundings, driverListener) -> new ProcessDriver(
                        programs, state, environment, machine, surroundings, driverListener, InstantSource.system()));
    }

    private static Driven outside(
            DriverKind kind, boolean dryRun, Abilities abilities, Function<DriverListener, Driver> maker) {
        try (Driver probe = maker.apply(DriverListener.DEAF)) {
            refuse(probe.complaints());
            probe.warnings().forEach(LOG::warn);
        }
        return new Driven(
                kind,
                true,
                abilities,
                (surroundings, driverListener) -> dryRun
                        ? new DryRun(maker.apply(DriverListener.DEAF)::plan, driverListener, LOG::info)
                        : maker.apply(driverListener));
    }

    private static void refuse(List<String> complaints) {
        if (!complaints.isEmpty()) {
            throw new SettingsException(String.join("; ", complaints) + ".");
        }
    }

    private static CleanEnvironment environment(Settings settings) {
        List<String> named = settings.get(ENVIRONMENT);
        refuse(CleanEnvironment.complaint(named).map(why -> "actuator.environment: " + why).stream()
                .toList());
        return CleanEnvironment.of(System.getenv(), named);
    }

    private static DriverLimits limits(Settings settings) {
        return new DriverLimits(settings.get(CONCURRENCY), settings.get(RATE), settings.get(TIMEOUT));
    }

    private static URI address(String url) {
        try {
            return new URI(url);
        } catch (URISyntaxException e) {
            throw new SettingsException("actuator.webhook.url is '%s', which is not a valid address: %s. Correct it."
                    .formatted(ShownAddress.of(url), e.getReason()));
        }
    }

    /** Nodes whose decisions it executes; empty for all nodes of its domains. */
    List<NodeId> nodes() {
        return scope.nodes();
    }

    boolean covers(DomainId domain) {
        return domains.isEmpty() || domains.contains(domain);
    }

    private static SimulatedDelays simulated(Settings settings) {
        double stuck = settings.get(STUCK);
        double failed = settings.get(FAILED);
        double silence = settings.get(SILENCE);
        if (stuck + failed + silence > 1) {
            throw new SettingsException(
                    "%s, %s and %s are %s, %s and %s, but must be at most 1 together: they are shares of the same decisions. Lower one of them."
                            .formatted(STUCK.name(), FAILED.name(), SILENCE.name(), stuck, failed, silence));
        }
        SimulatedDelays plain = settings.get(PUBLISHED)
                ? SimulatedDelays.published()
                : new SimulatedDelays(
                        settings.get(AFE_RELEASE),
                        settings.get(RESTART_RELEASE),
                        settings.get(BIND),
                        settings.get(DRAIN),
                        true,
                        0,
                        SimulatedDelays.FailureRates.NONE,
                        0);
        long seed = settings.get(SEED);
        return plain.withJitter(settings.get(JITTER), seed)
                .withFailures(new SimulatedDelays.FailureRates(stuck, failed, silence), seed);
    }
}
