package io.lendstream.load;

import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.OutputDirectory;
import io.lendstream.service.ServiceCommand;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.Units;
import io.lendstream.service.text.FileErrors;
import io.lendstream.service.text.Printable;
import io.lendstream.service.text.Times;
import io.lendstream.simulator.World;
import io.lendstream.simulator.WorldSettings;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.RunIdentity;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes a workload to the topics of a deployment. */
@Command(
        name = "load",
        description = {
            "Write a workload to Kafka as agents and jobs would: services, request rates, jobs and their progress.",
            "Runs by the wall clock, or with --set time=virtual as fast as the services answer, until the workload ends or the"
                    + " time of --set load.stop-after=5m is over."
        },
        footer = {
            "",
            "Example: lendstream load --bootstrap-server broker:9092 --workload day \\",
            "             --set load.stop-after=5m --out out/load"
        })
final class LoadCommand extends ServiceCommand {
    private static final Logger LOG = LoggerFactory.getLogger(LoadCommand.class);
    private static final Duration LONGEST_QUANTUM = Duration.ofSeconds(5);
    private static final Duration LOG_EVERY = Duration.ofSeconds(10);
    private static final Duration WALL_STEP = Duration.ofMillis(200);

    @Option(
            names = "--workload",
            paramLabel = "W[,W...]",
            description = "Names of presets, or files in a published format. Default: ${DEFAULT-VALUE}.")
    private String workload = "day";

    @Option(
            names = "--profiles",
            paramLabel = "DIR",
            description = "Directory of training profiles, with one directory for each application.")
    private Optional<Path> profiles = Optional.empty();

    @Option(
            names = "--services",
            paramLabel = "FILE",
            description = "CSV that makes services of request-rate series, one service on each line.")
    private Optional<Path> services = Optional.empty();

    @Option(
            names = "--list-jobs",
            paramLabel = "KIND",
            description = "Jobs of lists without profiles: rigid or elastic. Default: ${DEFAULT-VALUE}.")
    private String listJobs = "rigid";

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Nodes of the cluster of a preset. Default: ${DEFAULT-VALUE}.")
    private int nodes = 16;

    @Option(names = "--gpus-per-node", paramLabel = "G", description = "GPUs of each node. Default: ${DEFAULT-VALUE}.")
    private int gpusPerNode = 4;

    @Option(
            names = "--training-nodes",
            paramLabel = "T",
            description = "Number of training nodes. Default: half of the nodes.")
    private Optional<Integer> trainingNodes = Optional.empty();

    @Option(names = "--seed", paramLabel = "S", description = "Seed of all random numbers. Default: ${DEFAULT-VALUE}.")
    private long seed = 1;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = "Most virtual seconds per second in an accelerated run. Default: no bound.")
    private Optional<Double> speed = Optional.empty();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Directory for results. Default: no results are written.")
    private Optional<Path> out = Optional.empty();

    /** The workload, after it has been read. */
    private Workload played = new Workload("nothing", Workload.EPOCH, List.of(), List.of());

    @Override
    protected ServiceName service() {
        return ServiceName.LOAD;
    }

    @Override
    protected List<Key<?>> keys() {
        return LoadKeys.ALL;
    }

    @Override
    protected boolean writesToIntake() {
        return true;
    }

    @Override
    protected List<Topic<?>> topics() {
        List<Topic<?>> topics = new ArrayList<>(List.of(
                TopicCatalogue.NODES,
                TopicCatalogue.SERVICES,
                TopicCatalogue.REQUEST_RATES,
                TopicCatalogue.TRAINING_JOBS,
                TopicCatalogue.TRAINING_PROGRESS,
                TopicCatalogue.DECISIONS,
                TopicCatalogue.ACTUATION_REPORTS,
                TopicCatalogue.PROGRESS));
        if (takesTimeToWake()) {
            topics.add(TopicCatalogue.LEASES);
        }
        return List.copyOf(topics);
    }

    /** Whether some replicas of the workload take time to wake: only leases say which ones sleep. */
    private boolean takesTimeToWake() {
        return played.loads().stream()
                .anyMatch(load -> load.service().hardware().takesTimeToWake());
    }

    @Override
    protected boolean runsUnattended() {
        return false;
    }

    @Override
    protected void check(ServiceContext context) {
        played = workload(context, context.isVirtual() ? Workload.EPOCH : nextMinute());
        quantum(context.settings(), played);
        out.ifPresent(directory -> OutputDirectory.obstacle(directory).ifPresent(obstacle -> {
            throw new SettingsException("--out is %s, but %s; name another directory.".formatted(directory, obstacle));
        }));
    }

    @Override
    protected int serve(ServiceContext context) {
        Optional<DecisionSpool> kept = Optional.empty();
        try {
            kept = out.map(DecisionSpool::new);
            return run(context, kept);
        } catch (StalledException e) {
            System.err.println(e.getMessage());
            return FAILED;
        } catch (UncheckedIOException e) {
            System.err.println(Printable.line(FileErrors.line(e)));
            return FAILED;
        } finally {
            close(kept);
        }
    }

    private int run(ServiceContext context, Optional<DecisionSpool> kept) {
        Instant start = played.start();
        Duration quantum = quantum(context.settings(), played);
        World world = new World(played, WorldSettings.of(seed));
        try (RecordWriter writer = context.writer();
                RecordReader reader = context.reader(writer)) {
            KafkaWire wire = new KafkaWire(writer, reader, domain(context), kept, takesTimeToWake());
            context.health().ready();
            LOG.info(
                    "playing {}: {} training jobs, {} services, seed {}",
                    played.name(),
                    played.tasks().size(),
                    played.loads().size(),
                    seed);
            if (!context.isVirtual()) {
                LOG.info(
                        "by the wall clock, from {} to {} or until all jobs are done; set time=virtual in all services"
                                + " for an accelerated run",
                        Times.at(start),
                        Times.at(played.demandEnd()));
            }
            long began = System.nanoTime();
            boolean whole = play(context, new WorldPlay(world, played), wire, start, quantum);
            Duration wall = Duration.ofNanos(System.nanoTime() - began);
            RunOutcome outcome = new RunOutcome(
                    identity(context), world.results(), wire.decisions(), wall.toMillis() / 1000.0, whole);
            out.ifPresent(directory -> new ResultFiles(directory).write(List.of(outcome)));
            LOG.info(whole ? "the workload has ended" : "stopped before the end of the workload");
            return DONE;
        }
    }

    /** Deletes the kept decisions; a full disk may prevent the last write. */
    private static void close(Optional<DecisionSpool> kept) {
        try {
            kept.ifPresent(DecisionSpool::close);
        } catch (UncheckedIOException e) {
            LOG.warn("{}", FileErrors.line(e));
        }
    }

    /** Single requests last seconds and need short quanta; rates change a few times a minute. */
    private static Duration quantum(Settings settings, Workload played) {
        boolean singleRequests = played.loads().stream().anyMatch(load -> load.demand() instanceof Demand.Requests);
        Duration quantum =
                settings.get(LoadKeys.QUANTUM).orElse(singleRequests ? Duration.ofSeconds(1) : LONGEST_QUANTUM);
        if (quantum.compareTo(LONGEST_QUANTUM) > 0) {
            throw new SettingsException(
                    "load.quantum is %s, but must be at most 5s, or effects follow their causes too late. Shorten it."
                            .formatted(Units.text(quantum)));
        }
        return quantum;
    }

    private static DomainId domain(ServiceContext context) {
        return new DomainId(context.settings().get(LoadKeys.DOMAIN));
    }

    private RunIdentity identity(ServiceContext context) {
        return new RunIdentity(
                played.name(),
                context.settings().get(LoadKeys.POLICY),
                context.settings().get(LoadKeys.LENDING),
                context.settings().get(LoadKeys.AFE),
                seed,
                nodes,
                gpusPerNode);
    }

    private static Instant nextMinute() {
        return Instant.now().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    }

    private int training() {
        return trainingNodes.orElse(nodes / 2);
    }

    private Workload workload(ServiceContext context, Instant start) {
        try {
            Scene scene = new Scene(
                    domain(context),
                    start,
                    seed,
                    training() * gpusPerNode,
                    (nodes - training()) * gpusPerNode,
                    profiles,
                    services,
                    false);
            return Workloads.load(workload, scene.withListJobs(listJobs));
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Plays the workload; true if it reached its end. */
    private boolean play(ServiceContext context, Play play, Wire wire, Instant start, Duration quantum) {
        long began = System.nanoTime();
        Duration limit = context.settings().get(LoadKeys.STOP_AFTER);
        Reporter reporter = new Reporter(play, began);
        BooleanSupplier stop = () -> {
            reporter.tell();
            return context.stop().isRequested() || (!limit.isZero() && System.nanoTime() - began > limit.toNanos());
        };
        if (context.isVirtual()) {
            new Environment(
                            play,
                            wire,
                            domain(context),
                            context.settings().get(LoadKeys.WAITS_FOR),
                            new Environment.Timing(
                                    start,
                                    quantum,
                                    context.settings().get(LoadKeys.STALL_TIMEOUT),
                                    pace(start, context)))
                    .run(stop);
        } else {
            byTheWallClock(play, wire, start, stop);
        }
        return play.finished();
    }

    /** Logs the progress of a run every ten seconds. */
    private static final class Reporter {
        private final Play play;
        private long told;

        Reporter(Play play, long began) {
            this.play = play;
            this.told = began;
        }

        void tell() {
            if (System.nanoTime() - told > LOG_EVERY.toNanos()) {
                told = System.nanoTime();
                LOG.info("progress: {}", play.progress());
            }
        }
    }

    private Environment.Pace pace(Instant start, ServiceContext context) {
        if (speed.isEmpty()) {
            return Environment.Pace.UNBOUNDED;
        }
        long began = System.nanoTime();
        return now -> {
            long due = (long) (Duration.between(start, now).toNanos() / speed.get());
            Duration early = Duration.ofNanos(due - (System.nanoTime() - began));
            if (!early.isNegative()) {
                context.stop().waitFor(early);
            }
        };
    }

    private static void byTheWallClock(Play play, Wire wire, Instant start, BooleanSupplier stop) {
        wire.publish(play.advance(start));
        while (!stop.getAsBoolean() && !play.finished()) {
            wire.poll(WALL_STEP).forEach(play::take);
            Instant now = Instant.now();
            if (now.isAfter(start)) {
                wire.publish(play.advance(now));
                wire.flush();
            }
        }
    }
}
