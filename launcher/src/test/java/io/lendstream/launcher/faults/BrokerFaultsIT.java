package io.lendstream.launcher.faults;

import static io.lendstream.launcher.faults.Ordeals.awaitDecisions;
import static io.lendstream.launcher.faults.Ordeals.awaitTakeover;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Outcome;
import io.lendstream.launcher.faults.Ordeals.Setup;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What happens to brokers, to the registry and to the ways to them, and what becomes of a site meanwhile. */
@Tag("alone")
@Timeout(value = 1, unit = TimeUnit.HOURS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
final class BrokerFaultsIT {
    /** Longer than a lease and the notice after it: an actuator that is alone gives loans back by then. */
    private static final long LEASE_AND_NOTICE_MILLIS = 55_000;

    /**
     * Streams gives up a rebalance, and itself, where it cannot look at its internal topics within half of this, and a request to a
     * broker that is away takes a request's timeout, more than once.
     */
    private static final String PATIENT_REBALANCES = "kafka.consumer.max.poll.interval.ms=60000";

    private final Ordeals ordeals = new Ordeals();

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        ordeals.close();
    }

    @Test
    void aRegistryThatDoesNotAnswerStopsNobodyWhoKnowsTheSchemas() throws Exception {
        ordeals.endure(directory, Setup.named("registry"), (site, watch, traffic, actuator) -> {
            long registry = ordeals.pidOf("registry");
            Instance.signal(registry, "STOP");
            try {
                Thread.sleep(10_000);
                awaitDecisions(watch, 20);
            } finally {
                Instance.signal(registry, "CONT");
            }
        });
    }

    @Test
    void aBrokerThatStandsStillForAWhileCostsNothingButTime() throws Exception {
        ordeals.endure(directory, Setup.named("broker"), (site, watch, traffic, actuator) -> {
            long broker = ordeals.pidOf("broker");
            Instance.signal(broker, "STOP");
            try {
                Thread.sleep(12_000);
            } finally {
                Instance.signal(broker, "CONT");
            }
            System.out.printf("broker: 20 decisions within %.1f s of its return%n", awaitDecisions(watch, 20));
        });
    }

    @Test
    void aClusterOfThreeGoesOnWithoutTheBrokerThatLedTheDomain() throws Exception {
        try (Brokers brokers = brokers("killed-brokers", 3)) {
            Setup setup = Setup.named("cluster")
                    .on(Site.Kafka.at(brokers.bootstrapServers(), 3))
                    .withScheduler(PATIENT_REBALANCES);
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                String decisions = site.topics().name(TopicCatalogue.DECISIONS);
                int killed = brokers.leaderOf(decisions);
                brokers.broker(killed).kill();
                double seconds = awaitDecisions(watch, 20);
                brokers.restart(killed, 2);
                brokers.awaitInSync(decisions);
                awaitDecisions(watch, 20);
                System.out.printf("cluster: 20 decisions within %.1f s of the kill of broker %d%n", seconds, killed);
            });
        }
    }

    @Test
    void aClusterOfThreeGoesOnWhileTheBrokerThatLeadsTheDomainStandsStill() throws Exception {
        try (Brokers brokers = brokers("still-brokers", 3)) {
            Setup setup = Setup.named("standstill")
                    .on(Site.Kafka.at(brokers.bootstrapServers(), 3))
                    .withScheduler(PATIENT_REBALANCES);
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                String decisions = site.topics().name(TopicCatalogue.DECISIONS);
                int stopped = brokers.leaderOf(decisions);
                brokers.broker(stopped).pause();
                double seconds;
                try {
                    Thread.sleep(8_000);
                    seconds = awaitDecisions(watch, 20);
                } finally {
                    brokers.broker(stopped).resume();
                }
                brokers.awaitInSync(decisions);
                awaitDecisions(watch, 20);
                System.out.printf(
                        "cluster: broker %d stood still, 20 decisions in %.1f s after 8 s%n", stopped, seconds);
            });
        }
    }

    @Test
    void aPartitionedSchedulerIsReplacedAndDecidesNothingOfItsOldEpochWhenTheWayIsFreeAgain() throws Exception {
        try (Brokers brokers = brokers("scheduler-broker", 1)) {
            Site.Kafka kafka =
                    Site.Kafka.at(brokers.bootstrapServers(), 1).withFirstScheduler(brokers.hiddenBootstrapServers());
            ordeals.endure(directory, Setup.named("partition").on(kafka), (site, watch, traffic, actuator) -> {
                Instance cut = site.active();
                assertThat(cut.name()).as("the one behind the proxy").isEqualTo("scheduler-1");
                long epoch = watch.epoch();
                long blockedAt = System.nanoTime();
                brokers.proxy().block();
                double seconds = awaitTakeover(watch, epoch, blockedAt);
                Thread.sleep(ordeals.surroundings().zombieMillis());
                brokers.proxy().unblock();
                long successor = watch.epoch();
                awaitDecisions(watch, 20);

                Site.awaitReady(cut);
                assertThat(watch.epoch()).isGreaterThanOrEqualTo(successor);
                System.out.printf("partition: the cut-off scheduler was replaced after %.1f s%n", seconds);
            });
        }
    }

    @Test
    void aPartitionedActuatorGivesLoansBackByItselfAndIsHeardOfItWhenTheWayIsFreeAgain() throws Exception {
        try (Brokers brokers = brokers("actuator-broker", 1)) {
            Site.Kafka kafka =
                    Site.Kafka.at(brokers.bootstrapServers(), 1).withActuator(brokers.hiddenBootstrapServers());
            ordeals.endure(directory, Setup.named("severed").on(kafka), (site, watch, traffic, actuator) -> {
                Thread.sleep(10_000);
                brokers.proxy().block();
                Thread.sleep(LEASE_AND_NOTICE_MILLIS);
                int outOfService = watch.quarantined().size();
                brokers.proxy().unblock();
                Thread.sleep(5_000);
                Ordeals.repair(watch, traffic);
                awaitDecisions(watch, 10);
                assertThat(outOfService).as("GPUs put out of service meanwhile").isPositive();
                System.out.printf("severed actuator: %d GPUs put out of service meanwhile%n", outOfService);
            });
        }
    }

    /** By time-outs that are as short for its leases as Kafka's usual ones are for the usual lease. */
    @Test
    void anActuatorThatIsRestartedBehindAPartitionReportsEverythingOnceWhenTheWayIsFreeAgain() throws Exception {
        try (Brokers brokers = brokers("restarted-broker", 1)) {
            Site.Kafka kafka =
                    Site.Kafka.at(brokers.bootstrapServers(), 1).withActuator(brokers.hiddenBootstrapServers());
            String[] settings = {
                "connect-timeout=2s",
                "kafka.producer.request.timeout.ms=4000",
                "kafka.producer.delivery.timeout.ms=8000"
            };
            Setup setup = Setup.named("restarted").on(kafka).withActuator(settings);
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                brokers.proxy().block();
                Thread.sleep(2_000);
                actuator.kill();
                Instance alone = site.startActuator(settings);
                Thread.sleep(LEASE_AND_NOTICE_MILLIS);
                assertThat(alone.printed()).contains("is working without a broker");
                brokers.proxy().unblock();
                Site.awaitReady(alone);
                Ordeals.repair(watch, traffic);
                awaitDecisions(watch, 10);
                assertThat(site.read(TopicCatalogue.ACTUATION_REPORTS))
                        .filteredOn(report -> report.outcome() != Outcome.HOLDS)
                        .extracting(report -> "%s %s %s".formatted(report.decision(), report.outcome(), report.gpus()))
                        .as("reports")
                        .doesNotHaveDuplicates();
            });
        }
    }

    /** Far longer than leases, and than Kafka's clients keep what they could not send (two minutes). */
    @Test
    void whileTheBrokerIsAwayForAQuarterOfAnHourLeasesEndAndWhatWasDoneIsReportedAfterwards() throws Exception {
        long away = Long.getLong("faults.away-seconds", 900);
        try (Brokers brokers = brokers("absent-broker", 1)) {
            Setup setup = Setup.named("absent").on(Site.Kafka.at(brokers.bootstrapServers(), 1));
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                traffic.pause();
                brokers.broker(1).kill();
                Thread.sleep(away * 1_000);
                assertThat(actuator.isAlive()).as(actuator::printed).isTrue();
                assertThat(site.running()).as("schedulers").anyMatch(Instance::isAlive);
                brokers.restart(1, 2);
                traffic.resume();
                double seconds = awaitDecisions(watch, 20);
                Ordeals.repair(watch, traffic);
                Site.awaitReady(actuator);
                awaitDecisions(watch, 20);
                System.out.printf(
                        "broker away for %d s: 20 decisions within %.1f s of its return, %d GPUs out of service%n",
                        away, seconds, watch.quarantined().size());
            });
        }
    }

    private Brokers brokers(String name, int count) {
        return Brokers.start(
                ordeals.installation(),
                directory.resolve(name),
                count,
                ordeals.surroundings().broker());
    }
}
