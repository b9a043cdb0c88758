package io.lendstream.launcher.faults;

import static io.lendstream.launcher.faults.Ordeals.awaitDecisions;
import static io.lendstream.launcher.faults.Ordeals.awaitTakeover;
import static io.lendstream.launcher.faults.Ordeals.repair;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.history.Verdict;
import io.lendstream.launcher.faults.Ordeals.Setup;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real broker and registry, two schedulers and an actuator under traffic, and what clusters do to them. A usual build kills
 * the active scheduler ten times and makes a zombie of one; {@code ./dev faults} does all of it, and more often.
 */
@Tag("alone")
@Timeout(value = 2, unit = TimeUnit.HOURS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FaultsIT {
    private final int kills = Integer.getInteger("faults.kills", 10);
    private final Ordeals ordeals = new Ordeals();

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        ordeals.close();
    }

    @Test
    void aKilledSchedulerIsReplacedAndNothingIsDecidedTwiceOrForgotten() throws Exception {
        Takeovers takeovers = new Takeovers();
        Verdict verdict = ordeals.endure(directory, Setup.named("kills"), (site, watch, traffic, actuator) -> {
            Random random = new Random(ordeals.seed());
            for (int kill = 1; kill <= kills; kill++) {
                Thread.sleep(500 + random.nextInt(1500));
                repair(watch, traffic);
                takeovers.add(kill(site, watch, takeovers));
                Site.awaitReady(site.startScheduler());
                System.out.printf("kill %d of %d: %s%n", kill, kills, takeovers.last());
            }
        });

        takeovers.publish(ordeals.surroundings(), ordeals.seed(), verdict);
        assertThat(takeovers.beforeCommit() * 5)
                .as("killed between a decision and its commit: %s", takeovers)
                .isGreaterThanOrEqualTo(kills);
        assertThat(takeovers.inFlight() * 2)
                .as("killed with a transfer in flight: %s", takeovers)
                .isGreaterThanOrEqualTo(kills);
        if (Boolean.getBoolean(Ordeals.ALL)) {
            // A figure of a machine that does nothing else; a usual build shares its own.
            assertThat(takeovers.p99Seconds())
                    .as("takeover on the %s broker: %s", ordeals.surroundings().name(), takeovers)
                    .isLessThanOrEqualTo(ordeals.surroundings().takeoverSeconds());
        }
    }

    /** Kills the active scheduler at the moment that is wanting most so far, and waits for the next one's first decision. */
    private static Takeovers.Kill kill(Site site, Watch watch, Takeovers before) throws InterruptedException {
        Instance active = site.active();
        Optional<DecisionId> caught = Optional.empty();
        if (before.wantsInFlight()) {
            await().atMost(Site.PATIENCE).pollInterval(Duration.ofMillis(10)).until(watch::transferInFlight);
        }
        if (before.wantsBeforeCommit()) {
            caught = awaitUncommitted(watch);
        }
        long epoch = watch.epoch();
        boolean inFlight = watch.transferInFlight();
        long killedAt = System.nanoTime();
        active.kill();
        site.forget(active);
        double seconds = awaitTakeover(watch, epoch, killedAt);
        boolean beforeCommit = caught.filter(id -> !watch.isCommitted(id)).isPresent();
        return new Takeovers.Kill(seconds, inFlight, beforeCommit);
    }

    private static Optional<DecisionId> awaitUncommitted(Watch watch) throws InterruptedException {
        for (long end = System.nanoTime() + Site.PATIENCE.toNanos(); System.nanoTime() < end; ) {
            Optional<DecisionId> written = watch.uncommitted();
            if (written.isPresent()) {
                return written;
            }
            TimeUnit.MICROSECONDS.sleep(200);
        }
        return Optional.empty();
    }

    @Test
    void aSchedulerThatWasStoppedForLongerThanItsSessionAndGoesOnIsNotHeardAnyMore() throws Exception {
        ordeals.endure(directory, Setup.named("zombie"), (site, watch, traffic, actuator) -> {
            Instance zombie = site.active();
            long epoch = watch.epoch();
            long stoppedAt = System.nanoTime();
            zombie.pause();
            double seconds = awaitTakeover(watch, epoch, stoppedAt);
            Thread.sleep(ordeals.surroundings().zombieMillis());
            zombie.resume();
            long successor = watch.epoch();
            awaitDecisions(watch, 20);

            Site.awaitReady(zombie);
            assertThat(watch.epoch()).isGreaterThanOrEqualTo(successor);
            System.out.printf("zombie: replaced after %.1f s, and part of the group again%n", seconds);
        });
    }

    @Test
    void anUpgradeToAnotherTopologyIsRolledLikeAnyOther() throws Exception {
        Setup setup = Setup.named("upgrade").upgradedFrom("io.lendstream.scheduler.OlderScheduler");
        ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
            List<Instance> older = site.running();
            site.upgrade();
            Instance first = site.startScheduler();
            Site.awaitReady(first);
            site.stop(older.get(0));
            Instance second = site.startScheduler();
            Site.awaitReady(second);
            awaitDecisions(watch, 20);
            assertThat(site.active()).as("an older one decides still").isEqualTo(older.get(1));
            assertThat(List.of(first, second)).allSatisfy(newer -> {
                assertThat(newer.epoch()).isEmpty();
                assertThat(newer.printed())
                        .containsPattern("of another topology \\('lendstream-topology-\\d+'")
                        .contains("this instance stays on standby");
            });

            long epoch = watch.epoch();
            long stoppedAt = System.nanoTime();
            site.stop(older.get(1));
            double seconds = awaitTakeover(watch, epoch, stoppedAt);
            awaitDecisions(watch, 20);
            assertThat(List.of(first, second)).contains(site.active());
            System.out.printf("upgrade: decisions of the new topology %.1f s after the end of the old%n", seconds);
        });
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void anActuatorThatIsSilentIsNotWaitedForAndCatchesUp() throws Exception {
        ordeals.endure(directory, Setup.named("silent"), (site, watch, traffic, actuator) -> {
            Thread.sleep(10_000);
            actuator.pause();
            await().atMost(Site.PATIENCE).until(() -> !watch.quarantined().isEmpty());
            Thread.sleep(10_000);
            actuator.resume();
            awaitDecisions(watch, 10);
            System.out.printf(
                    "silent actuator: %d GPUs put out of service meanwhile%n",
                    watch.quarantined().size());
        });
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void whatIsReleasedAndDoesNotComeUpElsewhereIsTriedAgainOrPutOutOfService() throws Exception {
        Setup trouble = Setup.named("unbound")
                .withActuator("actuator.simulated.failed-binds=0.4", "actuator.simulated.stuck-releases=0.2");
        ordeals.endure(directory, trouble, (site, watch, traffic, actuator) -> {
            for (int i = 0; i < 12; i++) {
                Thread.sleep(5_000);
                repair(watch, traffic);
            }
            assertThat(site.read(TopicCatalogue.ACTUATION_REPORTS))
                    .anyMatch(report -> report.outcome() == Outcome.FAILED)
                    .anyMatch(report -> report.outcome() == Outcome.FORCED);
        });
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void schedulersAndAnActuatorThatHaveLostTheirDisksGoOnFromTheTopics() throws Exception {
        ordeals.endure(directory, Setup.named("amnesia"), (site, watch, traffic, actuator) -> {
            Thread.sleep(10_000);
            Instance active = site.active();
            long epoch = watch.epoch();
            long killedAt = System.nanoTime();
            site.killSchedulers();
            actuator.kill();
            deleteDirectoriesIn(site.directory());
            assertThat(active.isAlive()).isFalse();
            Instance first = site.startScheduler();
            Instance second = site.startScheduler();
            Instance next = site.startActuator();
            Site.awaitReady(first, second, next);
            double seconds = awaitTakeover(watch, epoch, killedAt);
            awaitDecisions(watch, 20);
            System.out.printf("full loss of state: decisions again after %.1f s%n", seconds);
        });
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void schedulersThatWereAwayForLongerThanDeadlinesPutNothingOutOfServiceForIt() throws Exception {
        ordeals.endure(directory, Setup.named("away"), (site, watch, traffic, actuator) -> {
            Thread.sleep(10_000);
            repair(watch, traffic);
            Thread.sleep(3_000);
            int before = watch.quarantined().size();
            long epoch = watch.epoch();
            site.killSchedulers();
            Thread.sleep(60_000);
            long startedAt = System.nanoTime();
            Site.awaitReady(site.startScheduler());
            double seconds = awaitTakeover(watch, epoch, startedAt);
            awaitDecisions(watch, 20);
            int after = watch.quarantined().size();
            System.out.printf(
                    "away for 60 s: decisions again after %.1f s, %d GPUs out of service before, %d after%n",
                    seconds, before, after);
            assertThat(after).isLessThanOrEqualTo(before);
        });
    }

    private static void deleteDirectoriesIn(Path directory) throws IOException {
        try (Stream<Path> entries = Files.walk(directory)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder())
                    .filter(path -> !path.equals(directory) && !path.toString().endsWith(".log"))
                    .toList()) {
                Files.deleteIfExists(entry);
            }
        }
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void poisonOfEachKindIsPutAsideAndTheRestIsDecidedOn() throws Exception {
        List<Topic<?>> inputs = List.of(
                TopicCatalogue.NODES,
                TopicCatalogue.GPU_TELEMETRY,
                TopicCatalogue.SERVICES,
                TopicCatalogue.REQUEST_RATES,
                TopicCatalogue.TRAINING_JOBS,
                TopicCatalogue.TRAINING_PROGRESS,
                TopicCatalogue.DEMAND_FORECASTS,
                TopicCatalogue.ACTUATION_REPORTS,
                TopicCatalogue.CONTROL);
        List<byte[]> poison = List.of(
                "{}".getBytes(UTF_8), new byte[0], new byte[] {0, 0, 0}, new byte[] {7, 0, 0, 0, 1, 2}, new byte[] {
                    0, 0, 0, 18, 103, 1, 2, 3
                });
        ordeals.endure(directory, Setup.named("poison"), (site, watch, traffic, actuator) -> {
            try (RecordWriter writer = RecordWriter.open(site.kafka(), site.topics(), "/other")) {
                for (Topic<?> topic : inputs) {
                    for (byte[] value : poison) {
                        writer.send(new ProducerRecord<>(site.topics().name(topic), "key".getBytes(UTF_8), value));
                    }
                    if (topic.cleanup() == Topic.Cleanup.DELETE) {
                        writer.send(new ProducerRecord<>(site.topics().name(topic), null, poison.get(0)));
                    }
                }
                writer.flush();
            }
            awaitDecisions(watch, 20);

            for (Topic<?> topic : inputs) {
                int least = poison.size() + (topic.cleanup() == Topic.Cleanup.DELETE ? 1 : 0);
                await().atMost(Site.PATIENCE).until(() -> site.deadLetters(topic) >= least);
            }
            assertThat(site.active().printed()).doesNotContain("a stream thread failed");
        });
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void telemetryThatIsRepeatedLateDisorderedAndOfOtherClocksBreaksNoPromise() throws Exception {
        Setup disorder = Setup.named("disorder").with(new Traffic.Disorder(0.2, 0.2, 0.05));
        ordeals.endure(directory, disorder, (site, watch, traffic, actuator) -> {
            for (int i = 0; i < 12; i++) {
                Thread.sleep(5_000);
                repair(watch, traffic);
            }
            awaitDecisions(watch, 5);
        });
    }
}
