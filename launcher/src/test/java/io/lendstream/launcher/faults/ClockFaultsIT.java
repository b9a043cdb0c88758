package io.lendstream.launcher.faults;

import static io.lendstream.launcher.faults.Ordeals.awaitDecisions;
import static io.lendstream.launcher.faults.Ordeals.repair;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.launcher.faults.Ordeals.Setup;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clocks that jump by ten minutes, stay wrong for a while and jump back: at the scheduler, the actuator, and all that is measured. */
@Tag("alone")
@Timeout(value = 1, unit = TimeUnit.HOURS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
final class ClockFaultsIT {
    private static final int WRONG_MILLIS = 30_000;

    private final Ordeals ordeals = new Ordeals();

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        ordeals.close();
    }

    @Test
    void schedulersWhoseClockIsTenMinutesSlowSaySoAndGoOnWhenItIsRight() throws Exception {
        Clock clock = Clock.in(directory, "slow-scheduler");
        Setup setup = Setup.named("slow-scheduler").withEnvironment(ServiceKind.SCHEDULER, clock.environment());
        ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
            Instance active = site.active();
            clock.set(-600);
            await().atMost(Site.PATIENCE)
                    .untilAsserted(() -> assertThat(active.readiness()).contains("clock"));
            Thread.sleep(WRONG_MILLIS);
            clock.set(0);
            double seconds = awaitDecisions(watch, 20);
            Site.awaitReady(active);
            System.out.printf("scheduler 10 min slow: 20 decisions %.1f s after its clock was right%n", seconds);
        });
    }

    @Test
    void schedulersWithAClockTenMinutesFastDoNoHarmAndContinueWhenItIsRight() throws Exception {
        Clock clock = Clock.in(directory, "fast-scheduler");
        Setup setup = Setup.named("fast-scheduler").withEnvironment(ServiceKind.SCHEDULER, clock.environment());
        ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
            clock.set(600);
            Thread.sleep(WRONG_MILLIS);
            clock.set(0);
            repair(watch, traffic);
            double seconds = awaitDecisions(watch, 20);
            System.out.printf("scheduler 10 min fast: 20 decisions %.1f s after its clock was right%n", seconds);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {-600, 600})
    void anActuatorWithAWrongClockBreaksNoPromise(int offset) throws Exception {
        String name = "actuator-" + (offset < 0 ? "slow" : "fast");
        Clock clock = Clock.in(directory, name);
        Setup setup = Setup.named(name).withEnvironment(ServiceKind.ACTUATOR, clock.environment());
        ordeals.endure(directory, setup, (site, watch, traffic, actuator) -> {
            clock.set(offset);
            Thread.sleep(WRONG_MILLIS);
            assertThat(actuator.isAlive()).isTrue();
            clock.set(0);
            repair(watch, traffic);
            double seconds = awaitDecisions(watch, 20);
            System.out.printf("%s: 20 decisions %.1f s after its clock was right%n", name, seconds);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {-600, 600})
    void telemetryOfWrongClocksBreaksNoPromise(int offset) throws Exception {
        String name = "telemetry-" + (offset < 0 ? "slow" : "fast");
        ordeals.endure(directory, Setup.named(name), (site, watch, traffic, actuator) -> {
            traffic.setClockOffset(Duration.ofSeconds(offset));
            Thread.sleep(WRONG_MILLIS);
            traffic.setClockOffset(Duration.ZERO);
            repair(watch, traffic);
            double seconds = awaitDecisions(watch, 20);
            System.out.printf("%s: 20 decisions %.1f s after clocks were right%n", name, seconds);
        });
    }
}
