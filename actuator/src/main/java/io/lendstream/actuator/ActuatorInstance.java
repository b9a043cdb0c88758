package io.lendstream.actuator;

import io.lendstream.actuator.standby.Active;
import io.lendstream.actuator.standby.StandbyGroup;
import io.lendstream.actuator.standby.StateLock;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.CommonKeys;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as an instance of its actuator. It is active while it has the state directory, and, with standby
 * instances on other machines, while it is the active member of their group.
 */
final class ActuatorInstance {
    static final Duration PATIENCE = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(ActuatorInstance.class);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(500);
    private static final long NANOS_BETWEEN_WORDS = Duration.ofMinutes(1).toNanos();
    /** How old the saved state of an instance on standby may become. */
    private static final long NANOS_BETWEEN_FOLLOWS = Duration.ofHours(1).toNanos();
    /** Metrics of the objects of one term. */
    private static final Set<String> OF_A_TERM = Set.of(
            "lendstream.gpus.held",
            "lendstream.reports.waiting",
            "lendstream.refusals",
            "lendstream.dropped.reports",
            "lendstream.dropped.progress");

    private final ServiceContext context;
    private final ActuatorSettings settings;
    private final AtomicInteger active = new AtomicInteger();
    private String lastWords = "";
    private long wordsAt;

    ActuatorInstance(ServiceContext context, ActuatorSettings settings) {
        this.context = context;
        this.settings = settings;
        context.metrics().gauge("lendstream.actuator.active", active);
    }

    /** Does work while no other process uses the state directory; waits for that, on standby. */
    void withTheStateDirectory(Runnable work) {
        if (settings.stateDir().isEmpty()) {
            begin(work);
            return;
        }
        StateFile.in(settings.stateDir().get());
        Optional<StateLock> lock = StateLock.await(
                settings.stateDir().get(),
                new StateLock.Owner(settings.name(), settings.dryRun()),
                context.stop()::waitFor,
                holder -> standBy("%s has actuator.state-dir %s"
                        .formatted(holder, settings.stateDir().get())));
        if (lock.isPresent()) {
            try {
                begin(work);
            } finally {
                lock.get().close();
            }
        }
    }

    private void begin(Runnable work) {
        active.set(settings.standby() ? 0 : 1);
        work.run();
    }

    /** An instance that can take over is ready: a rolling update waits for that before it stops the active one. */
    private void standBy(String why) {
        context.health().ready();
        long now = System.nanoTime();
        if (!why.equals(lastWords) || now - wordsAt > NANOS_BETWEEN_WORDS) {
            LOG.info("{}; this instance stays on standby and takes over once it has ended", why);
            lastWords = why;
            wordsAt = now;
        }
    }

    /** Executes decisions by the wall clock until a stop is requested. */
    void serve() {
        if (!settings.standby()) {
            run(Active.ALONE, context.stop()::isRequested);
            return;
        }
        String topic = context.topics().name(TopicCatalogue.ACTUATORS);
        try (var group = new StandbyGroup(
                () -> KafkaClients.member(context, settings.name()),
                topic,
                KafkaClients.session(context),
                System::nanoTime)) {
            context.health()
                    .notReadyWhile(
                            () -> active.get() == 0
                                    ? group.trouble()
                                    : group.term()
                                            .filter(term -> !term.mayStart())
                                            .map(
                                                    term ->
                                                            "another instance may be active, as the group does not answer; leases and deadlines are enforced"));
            group.start();
            for (Optional<StandbyGroup.Term> term = await(group); term.isPresent(); term = await(group)) {
                serve(term.get());
            }
        }
    }

    private Optional<StandbyGroup.Term> await(StandbyGroup group) {
        long followAt = System.nanoTime();
        while (!context.stop().isRequested()) {
            group.failure().ifPresent(this::fail);
            if (group.term().isPresent()) {
                return group.term();
            }
            if (group.trouble().isEmpty()) {
                standBy("%s is active".formatted(group.active()));
                if (settings.stateDir().isPresent() && System.nanoTime() - followAt >= 0) {
                    follow(() -> context.stop().isRequested() || group.term().isPresent());
                    followAt = System.nanoTime() + NANOS_BETWEEN_FOLLOWS;
                }
            }
            context.stop().waitFor(BETWEEN_LOOKS);
        }
        return Optional.empty();
    }

    private void fail(RuntimeException failure) {
        if (failure instanceof AuthorizationException) {
            throw new UnreachableException(
                    "actuator.standby is true, but %s may not read group %s or topic %s: %s. Allow it as in deploy/acl/actuator.acl, or leave actuator.standby out."
                            .formatted(
                                    settings.name(),
                                    KafkaClients.instances(context, settings.name()),
                                    context.topics().name(TopicCatalogue.ACTUATORS),
                                    failure.getMessage()),
                    failure);
        }
        throw failure;
    }

    /** Brings the saved state up to the topics, so that a takeover need not read all that they keep. */
    private void follow(BooleanSupplier ended) {
        var outbox = new ReportOutbox();
        try (KafkaClients clients = clients();
                BackgroundTransport transport = transport(clients, outbox, Active.STANDBY)) {
            forgetWhatIsContradicted(clients, ended);
            ActuatorService.byWallClock(
                            settings,
                            transport,
                            Active.STANDBY,
                            new Health(),
                            new SimpleMeterRegistry(),
                            InstantSource.system())
                    .follow(ended);
        } catch (UnreachableException | KafkaException e) {
            LOG.info("the saved state does not follow the topics; will try again: {}", e.getMessage());
        }
    }

    private void serve(StandbyGroup.Term term) {
        LOG.info("{} is the active instance now", settings.name());
        context.health().notReady("taking over");
        active.set(1);
        try {
            BooleanSupplier ended = () -> context.stop().isRequested() || !term.holds();
            if (isTakenOver(ended)) {
                run(term, ended);
            }
        } finally {
            active.set(0);
        }
        if (!context.stop().isRequested()) {
            LOG.warn(
                    "{} is not the active instance any more; jobs and replicas continue, and reports not sent are left to the other instance",
                    settings.name());
        }
    }

    /** Fences the writer of the former active instance, so that none of its reports can arrive later. */
    private boolean isTakenOver(BooleanSupplier ended) {
        String writer = KafkaClients.instances(context, settings.name());
        while (!ended.getAsBoolean()) {
            try (KafkaClients clients = clients()) {
                clients.check();
                clients.writer(Optional.of(writer)).abandon();
                forgetWhatIsContradicted(clients, ended);
                return true;
            } catch (TransactionalIdAuthorizationException e) {
                throw new UnreachableException(
                        "actuator.standby is true, but %s is not authorized for the transactional ID %s. Allow it as in deploy/acl/actuator.acl, or leave actuator.standby out."
                                .formatted(settings.name(), writer),
                        e);
            } catch (UnreachableException | KafkaException | WriteFailedException e) {
                LOG.warn("cannot take over yet: {}", e.getMessage());
                context.stop().waitFor(BETWEEN_TRIES);
            }
        }
        return false;
    }

    private void forgetWhatIsContradicted(KafkaClients clients, BooleanSupplier ended) {
        Optional<StateFile> file = settings.stateDir().map(StateFile::in);
        Optional<ActuatorState> saved =
                file.flatMap(StateFile::load).filter(state -> state.actuator().equals(settings.name()));
        if (saved.isPresent() && OwnReports.contradict(saved.get(), clients.reportReader(), ended)) {
            LOG.warn(
                    "another instance was active after the saved state, which has reports that were never sent; the state is rebuilt from the topics");
            file.get().remove();
        }
    }

    private void run(Active term, BooleanSupplier ended) {
        var outbox = new ReportOutbox();
        context.metrics().more().counter("lendstream.dropped.reports", List.of(), outbox, ReportOutbox::droppedReports);
        context.metrics()
                .more()
                .counter("lendstream.dropped.progress", List.of(), outbox, ReportOutbox::droppedProgress);
        try (KafkaClients clients = clients();
                BackgroundTransport transport = transport(clients, outbox, term)) {
            var service = ActuatorService.byWallClock(
                    settings, transport, term, context.health(), context.metrics(), InstantSource.system());
            service.start(ended);
            while (!ended.getAsBoolean()) {
                service.turn(PATIENCE);
            }
            if (context.stop().isRequested()) {
                service.finish();
            } else {
                service.abandon();
            }
        } finally {
            context.metrics().getMeters().stream()
                    .filter(meter -> OF_A_TERM.contains(meter.getId().getName()))
                    .forEach(context.metrics()::remove);
        }
    }

    private KafkaClients clients() {
        return new KafkaClients(context, settings.name(), ActuatorService.TOPICS);
    }

    private BackgroundTransport transport(KafkaClients clients, ReportOutbox outbox, Active active) {
        return new BackgroundTransport(
                settings.name(),
                clients,
                context.settings().get(CommonKeys.CONNECT_TIMEOUT),
                new BackgroundTransport.Writers(
                        context.topics().prefix() + "actuator-",
                        settings.stateDir().isPresent(),
                        active),
                outbox);
    }
}
