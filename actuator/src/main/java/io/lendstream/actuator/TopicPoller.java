package io.lendstream.actuator;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.BrokerWait;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.kafka.WriteFailedException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads topics on a thread of its own. A broker or registry that does not answer therefore never blocks the actuator.
 * Records become calls in a queue, in order.
 */
final class TopicPoller implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(TopicPoller.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration PAUSE = Duration.ofMillis(500);
    /** Time without records after which the broker is checked, and the time limit of this check. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private static final Duration ANSWER = Duration.ofSeconds(3);

    private final Clients clients;
    private final String actuator;
    private final RecordTransport.Routes routes;
    private final ReportOutbox outbox;
    private final BlockingQueue<Runnable> calls;
    private final Consumer<Map<String, Long>> readUpTo;
    private final BrokerWait wait;

    private Map<String, Long> decisions;
    private boolean joined;
    private Optional<Read> readToJoin = Optional.empty();
    private long heardAt = System.nanoTime();
    private volatile @Nullable RecordReader reader;
    private volatile Optional<String> trouble = Optional.of("catching up with the topics");
    private volatile Optional<RuntimeException> failure = Optional.empty();
    private volatile long progressAt = System.nanoTime();
    private volatile boolean stopped;

    /**
     * Reports that are read.
     *
     * @param decisions the ends of the decisions after that, by {@code topic-partition}
     */
    private record Read(OwnReports own, Map<String, Long> decisions) {}

    /**
     * Creates a reader that has not started.
     *
     * @param decisions the next decision to read, by {@code topic-partition}
     * @param calls accepts calls to the actuator, and blocks this thread while it is full
     * @param readUpTo called in the same queue, with the next decision to read after all earlier calls
     */
    TopicPoller(
            Clients clients,
            String actuator,
            RecordTransport.Routes routes,
            ReportOutbox outbox,
            Map<String, Long> decisions,
            BlockingQueue<Runnable> calls,
            Consumer<Map<String, Long>> readUpTo) {
        this.clients = clients;
        this.actuator = actuator;
        this.routes = routes;
        this.outbox = outbox;
        this.decisions = new TreeMap<>(decisions);
        this.calls = calls;
        this.readUpTo = readUpTo;
        this.wait = new BrokerWait(clients.where());
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                round();
            } catch (WakeupException | InterruptException | InterruptedException e) {
                LOG.debug("woken up", e);
            } catch (UnreachableException | KafkaException | WriteFailedException e) {
                again(String.valueOf(e.getMessage()));
            } catch (RuntimeException e) {
                failure = Optional.of(e);
                break;
            } catch (Error e) { // uncaught, it would end the reading silently
                failure = Optional.of(new IllegalStateException("reading topics stopped: " + e, e));
                break;
            }
        }
        closeReader();
    }

    private void again(String why) {
        trouble = Optional.of(why);
        wait.goesOn(why);
        closeReader();
        try {
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        } catch (InterruptedException e) {
            LOG.debug("woken up", e);
        }
    }

    private void round() throws InterruptedException {
        RecordReader topics = reader;
        if (topics == null) {
            topics = connect();
        }
        int handed = topics.poll(POLL);
        handedOver(topics, handed);
        if (!joined && topics.hasCaughtUp()) {
            join(topics);
        }
        Optional<String> standsStill = topics.trouble();
        if (standsStill.isPresent()) {
            trouble = standsStill;
        } else if (isHeard(topics, handed)) {
            wait.over();
            trouble = joined ? Optional.empty() : Optional.of("catching up with the topics");
        }
    }

    private RecordReader connect() {
        clients.check();
        RecordReader topics = clients.reader();
        reader = topics;
        routes.on(topics, this::call);
        topics.start(decisions);
        readToJoin = Optional.empty();
        heardAt = System.nanoTime();
        progressAt = heardAt;
        return topics;
    }

    private void handedOver(RecordReader topics, int handed) throws InterruptedException {
        Map<String, Long> now = topics.positions(TopicCatalogue.DECISIONS);
        if (!now.equals(decisions)) {
            decisions = now;
            calls.put(() -> readUpTo.accept(now));
        }
        if (handed > 0) {
            heardAt = System.nanoTime();
            progressAt = heardAt;
        }
    }

    /**
     * Hands the reports over once all decisions that they answer are read. A decision may be answered by another
     * instance while the reports are read; it is then on the topic before the present end.
     */
    private void join(RecordReader topics) throws InterruptedException {
        if (readToJoin.isEmpty()) {
            try (RecordReader reports = clients.reportReader()) {
                OwnReports own = OwnReports.read(reports, actuator, outbox.positions(), () -> stopped);
                if (stopped) {
                    return;
                }
                readToJoin = Optional.of(new Read(own, topics.ends(TopicCatalogue.DECISIONS)));
            }
        }
        Read read = readToJoin.get();
        if (!topics.hasRead(read.decisions())) {
            return;
        }
        List<ActuationReport> since =
                outbox.reconcile(read.own().reports(), read.own().end());
        readToJoin = Optional.empty();
        joined = true;
        calls.put(() -> routes.joined(since));
    }

    /** Whether the broker answers: records prove it; without records the broker is asked. */
    private boolean isHeard(RecordReader topics, int handed) {
        long now = System.nanoTime();
        if (handed == 0 && now - heardAt > SILENCE.toNanos()) {
            if (!topics.isAnswered(ANSWER)) {
                String why = "the broker at %s does not answer; leases and deadlines are enforced, and the queue has %s"
                        .formatted(clients.where(), Reason.counted(outbox.size(), "record"));
                trouble = Optional.of(why);
                wait.goesOn(why);
                return false;
            }
            heardAt = now;
        }
        return true;
    }

    private void call(Runnable call) {
        try {
            calls.put(call);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private void closeReader() {
        RecordReader topics = reader;
        reader = null;
        if (topics != null) {
            try {
                topics.close();
            } catch (KafkaException e) {
                LOG.debug("cannot close a reader", e);
            }
        }
    }

    /** Why nothing is read; empty without a problem. */
    Optional<String> trouble() {
        return trouble;
    }

    /** The error that ended the reading. */
    Optional<RuntimeException> failure() {
        return failure;
    }

    /** How long nothing has been read and the broker has not answered. */
    Duration idle() {
        return Duration.ofNanos(System.nanoTime() - progressAt);
    }

    void stop() {
        stopped = true;
    }
}
