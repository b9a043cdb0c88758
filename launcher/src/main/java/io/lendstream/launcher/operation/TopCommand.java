package io.lendstream.launcher.operation;

import io.lendstream.core.event.Limits;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.text.Printable;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;

/** {@code lendstream top}. */
@Command(
        name = "top",
        description = {
            "Show alarms, services with their needs, jobs, queues with their use, the last decisions and the owner of each GPU.",
            "Replicas of several GPUs show their roles, and a GPU of one, or of a gang that starts, shows what it is a part of.",
            "A terminal is redrawn every second; other output is printed every ten seconds, until Ctrl-C."
        },
        footer = "Example: lendstream top --once --bootstrap-server broker:9092")
public final class TopCommand extends ClusterCommand {
    /** Older rates, forecasts and progress reports are not read. */
    private static final Duration RECENT = Duration.ofMinutes(15);

    private static final Duration REDRAW = Duration.ofSeconds(1);
    private static final Duration REPRINT = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(200);
    /** How often the log is searched for a new scheduler, and for commands that were not accepted at once. */
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(30);

    private static final int DECISIONS_BACK = 100;
    private static final int USUAL_ROWS = 40;
    private static final int USUAL_COLUMNS = 160;
    /** Moves the cursor to the first line and clears the terminal. */
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private static final List<Topic<?>> WHOLE = List.of(
            TopicCatalogue.LEASES,
            TopicCatalogue.NODES,
            TopicCatalogue.SERVICES,
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.QUEUES,
            TopicCatalogue.DOMAIN_SETTINGS,
            TopicCatalogue.ACTUATORS,
            TopicCatalogue.CONTROL,
            TopicCatalogue.PROGRESS);
    private static final List<Topic<?>> LATELY =
            List.of(TopicCatalogue.REQUEST_RATES, TopicCatalogue.DEMAND_FORECASTS, TopicCatalogue.TRAINING_PROGRESS);

    @Option(names = "--once", description = "Show the current state once.")
    private boolean once;

    private final Overview overview = new Overview();
    private final CommandSearch commands = new CommandSearch();

    @Override
    public Integer call() {
        Cluster cluster = cluster();
        List<Topic<?>> watched = new ArrayList<>(WHOLE);
        watched.addAll(LATELY);
        watched.add(TopicCatalogue.DECISIONS);
        boolean virtual = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
        if (!virtual) {
            watched.add(TopicCatalogue.ACTUATION_REPORTS);
            overview.watchActuators();
        }
        List<Topic<?>> read = new ArrayList<>(watched);
        read.add(TopicCatalogue.DOMAIN_EVENTS);
        Connection.check(cluster.kafka(), cluster.topics(), read, cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        try (RecordReader reader = reading.open();
                LogReader log = new LogReader(reading, cluster.topics())) {
            hand(reader, watched);
            reader.start(positions(reading, reader, virtual));
            while (!reader.hasCaughtUp()) {
                reader.poll(POLL);
            }
            watch(cluster.topics(), reader, log, virtual);
        }
        return 0;
    }

    /** The offsets from which topics are read that are not read as a whole. */
    private static Map<String, Long> positions(TopicScan reading, RecordReader reader, boolean virtual) {
        Instant now = Instant.now();
        Map<String, Long> from = reading.since(reader, LATELY, now.minus(RECENT));
        from.putAll(reading.last(reader, TopicCatalogue.DECISIONS, DECISIONS_BACK));
        if (!virtual) {
            reading.since(reader, List.of(TopicCatalogue.DECISIONS), now.minus(ActuatorWatch.READ_BACK))
                    .forEach((partition, offset) -> from.merge(partition, offset, Math::min));
            Instant heard = now.minus(ActuatorWatch.REPORTS_BACK);
            from.putAll(reading.since(reader, List.of(TopicCatalogue.ACTUATION_REPORTS), heard));
        }
        return from;
    }

    /** Shows the state, again and again until it is interrupted. */
    private void watch(TopicCatalogue topics, RecordReader reader, LogReader log, boolean virtual) {
        boolean drawn = !once && !json() && Ansi.AUTO.enabled();
        log.schedulers(overview.domains()).forEach(overview::tell);
        log.accepted(commands).forEach(event -> overview.accepted(event, topics));
        long looked = System.nanoTime();
        show(virtual, drawn);
        Duration every = drawn || json() ? REDRAW : REPRINT;
        while (!once) {
            long until = System.nanoTime() + every.toNanos();
            while (System.nanoTime() < until) {
                reader.poll(POLL);
            }
            boolean isDue = System.nanoTime() - looked > LOOK_AGAIN.toNanos();
            if (isDue) {
                log.schedulers(overview.domains()).forEach(overview::tell);
                looked = System.nanoTime();
            }
            if (isDue || commands.isOpen(Instant.now())) {
                log.accepted(commands).forEach(event -> overview.accepted(event, topics));
            }
            show(virtual, drawn);
        }
    }

    private void hand(RecordReader reader, List<Topic<?>> watched) {
        reader.handing(TopicCatalogue.CONTROL, commands::take);
        reader.handing(
                TopicCatalogue.DECISIONS,
                received -> received.value().ifPresent(decision -> overview.decided(decision, received.written())));
        List<Topic<?>> handled = List.of(TopicCatalogue.CONTROL, TopicCatalogue.DECISIONS);
        watched.stream().filter(topic -> !handled.contains(topic)).forEach(topic -> hand(reader, topic));
    }

    private <T> void hand(RecordReader reader, Topic<T> topic) {
        reader.handing(
                topic,
                received -> received.value()
                        .ifPresentOrElse(overview::tell, () -> overview.removed(topic, received.key())));
    }

    private void show(boolean virtual, boolean drawn) {
        Instant now = overview.now(Instant.now(), virtual);
        if (json()) {
            print(overview.json(now));
            return;
        }
        List<String> lines = overview.lines(now, virtual);
        if (drawn) {
            out().print(CLEAR);
        }
        print(drawn ? screen(lines) : lines);
    }

    /** The lines that fit the terminal. */
    static List<String> screen(List<String> lines) {
        int rows = Integer.getInteger("lendstream.rows", USUAL_ROWS);
        int columns = Integer.getInteger("lendstream.columns", USUAL_COLUMNS);
        return lines.subList(0, Math.min(lines.size(), rows - 1)).stream()
                .map(line -> cut(Printable.line(line), columns))
                .toList();
    }

    private static String cut(String line, int columns) {
        return Limits.cut(line, columns);
    }
}
