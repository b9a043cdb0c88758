package io.lendstream.launcher.faults;

import static io.lendstream.launcher.faults.Ordeals.awaitDecisions;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.launcher.faults.Ordeals.Setup;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hostile writer beside good traffic: no record of its stops a service, and the good traffic is decided as before. */
@Tag("alone")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HostileFaultsIT {
    private final Ordeals ordeals = new Ordeals();

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        ordeals.close();
    }

    @Test
    void aHostileWriterStopsNoServiceAndNoDomainAndNoNextStart() throws Exception {
        ordeals.endure(directory, Setup.named("hostile"), (site, watch, traffic, actuator) -> {
            Instance active = site.active();
            long attackedAt = System.nanoTime();
            try (HostileWriter hostile = new HostileWriter(site)) {
                hostile.attack();
            }
            double written = (System.nanoTime() - attackedAt) / 1e9;
            double decided = awaitDecisions(watch, 20);
            await().atMost(Site.PATIENCE).until(() -> site.deadLetters(TopicCatalogue.REQUEST_RATES) >= 5_000);
            awaitDecisions(watch, 20);

            assertThat(site.active()).as("the scheduler that had the domain").isEqualTo(active);
            assertThat(site.running()).allMatch(Instance::isAlive);
            assertThat(actuator.isAlive()).as("the actuator").isTrue();
            assertThat(active.printed())
                    .doesNotContain("a stream thread failed")
                    .doesNotContain("\u001b")
                    .doesNotContain("\0");
            for (Topic<?> topic :
                    List.of(TopicCatalogue.SERVICES, TopicCatalogue.TRAINING_JOBS, TopicCatalogue.NODES)) {
                assertThat(site.deadLetters(topic))
                        .as("dead letters of %s", topic)
                        .isPositive();
            }

            long epoch = watch.epoch();
            site.killSchedulers();
            actuator.kill();
            long killedAt = System.nanoTime();
            Instance next = site.startScheduler();
            Site.awaitReady(next, site.startActuator());
            double again = Ordeals.awaitTakeover(watch, epoch, killedAt);
            awaitDecisions(watch, 20);
            assertThat(next.isAlive()).isTrue();
            System.out.printf(
                    "hostile writer: attack written in %.1f s, 20 decisions of the good traffic %.1f s later; decisions %.1f s after a restart of everything%n",
                    written, decided, again);
        });
    }
}
