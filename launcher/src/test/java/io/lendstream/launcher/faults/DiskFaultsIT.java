package io.lendstream.launcher.faults;

import static io.lendstream.launcher.faults.Ordeals.awaitDecisions;
import static io.lendstream.launcher.faults.Ordeals.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.launcher.faults.Ordeals.Setup;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Disks that are full for a while: the actuator's, the schedulers', the broker's. */
@Tag("alone")
@Timeout(value = 1, unit = TimeUnit.HOURS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
final class DiskFaultsIT {
    private static final int FULL_MILLIS = 30_000;

    private final Ordeals ordeals = new Ordeals();

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        ordeals.close();
    }

    @Test
    void anActuatorWhoseDiskIsFullStaysAliveAndGoesOnWhenThereIsRoom() throws Exception {
        try (SmallDisk disk = SmallDisk.on(directory.resolve("actuator-disk"), 4)) {
            Setup setup = Setup.named("full-actuator").withActuator("actuator.state-dir=" + disk.directory());
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                disk.fill();
                Thread.sleep(FULL_MILLIS);
                assertThat(actuator.isAlive()).as(actuator::printed).isTrue();
                assertThat(actuator.readiness()).contains("state-dir");
                disk.free();
                repair(watch, traffic);
                double seconds = awaitDecisions(watch, 20);
                Site.awaitReady(actuator);
                System.out.printf("actuator's disk full: 20 decisions %.1f s after there was room%n", seconds);
            });
        }
    }

    @Test
    void schedulersWhoseDiskIsFullGoOnWhenThereIsRoom() throws Exception {
        try (SmallDisk disk = SmallDisk.on(directory.resolve("scheduler-disk"), 8)) {
            Setup setup = Setup.named("full-scheduler").withScheduler("kafka.state.dir=" + disk.directory());
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                disk.fill();
                Thread.sleep(FULL_MILLIS);
                disk.free();
                if (site.running().stream().noneMatch(Instance::isAlive)) {
                    Site.awaitReady(site.startScheduler()); // as a supervisor does
                }
                repair(watch, traffic);
                double seconds = awaitDecisions(watch, 20);
                System.out.printf("schedulers' disk full: 20 decisions %.1f s after there was room%n", seconds);
            });
        }
    }

    @Test
    void aBrokerWhoseDiskWasFullIsStartedAgainAndNothingIsLost() throws Exception {
        try (SmallDisk disk = SmallDisk.on(directory.resolve("broker-disk"), 400);
                Brokers brokers = Brokers.start(
                        ordeals.installation(),
                        disk.directory(),
                        1,
                        ordeals.surroundings().broker())) {
            Setup setup = Setup.named("full-broker").on(Site.Kafka.at(brokers.bootstrapServers(), 1));
            ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
                disk.fill();
                traffic.pause();
                await().atMost(Site.PATIENCE).until(() -> !brokers.broker(1).isAlive());
                disk.free();
                brokers.restart(1, 2);
                traffic.resume();
                assertThat(actuator.isAlive()).as(actuator::printed).isTrue();
                repair(watch, traffic);
                double seconds = awaitDecisions(watch, 20);
                System.out.printf("broker's disk full: 20 decisions %.1f s after it was started again%n", seconds);
            });
        }
    }
}
