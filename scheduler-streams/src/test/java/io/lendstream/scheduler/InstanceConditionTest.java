package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class InstanceConditionTest {
    private static final Instant NOW = Scenario.START;

    private final InstanceCondition condition = new InstanceCondition();

    private void taken(int records) {
        for (int i = 0; i < records; i++) {
            condition.taken(NOW);
        }
    }

    private void refused(int records, Poison poison) {
        for (int i = 0; i < records; i++) {
            condition.refused("request-rates", poison, NOW);
        }
    }

    @Test
    void mostRecordsRefusedIsACondition() {
        Poison unreadable = new Poison(Poison.Kind.UNREADABLE, "no");
        refused(19, unreadable);
        assertThat(condition.complaint(NOW)).as("too few to judge by").isEmpty();

        refused(1, unreadable);
        assertThat(condition.complaint(NOW))
                .contains(
                        "20 of the last 20 records were refused, most as unreadable in request-rates (20); see the dead letters of that topic for the reason");
        taken(20);
        assertThat(condition.complaint(NOW)).as("a half is not most").isEmpty();
        assertThat(condition.refusedShare(NOW)).isEqualTo(0.5);
        refused(1, unreadable);
        assertThat(condition.complaint(NOW)).isPresent();
        assertThat(condition.complaint(NOW.plus(Duration.ofMinutes(11))))
                .as("forgotten")
                .isEmpty();
    }

    @Test
    void aSkewedClockIsNamedWithHowFarTheMedianRecordIsAhead() {
        for (int minutes = 6; minutes < 27; minutes++) {
            refused(1, Poison.fromTheFuture(Duration.ofMinutes(minutes), "too early"));
        }

        assertThat(condition.complaint(NOW))
                .contains(
                        "21 of the last 21 records were refused for clock skew: the median of 21 records is 16m ahead of this machine's clock; synchronize this machine and the writers by NTP");
    }

    @Test
    void recordsOfAStoppedDomainDoNotCountOnceMore() {
        condition.stopped(new DomainId("east"), "it failed");
        refused(100, new Poison(Poison.Kind.DOMAIN_STOPPED, "stopped"));

        assertThat(condition.refusedShare(NOW)).isZero();
        assertThat(condition.complaint(NOW))
                .contains("1 of its domains is stopped and makes no decisions: east (it failed)");
        condition.stopped(new DomainId("west"), "it failed too");
        assertThat(condition.complaint(NOW))
                .contains("2 of its domains are stopped and make no decisions: east (it failed), west (it failed too)");
        condition.notStopped(new DomainId("west"));
        condition.notStopped(new DomainId("east"));
        assertThat(condition.complaint(NOW)).isEmpty();
    }

    /** As one whose clock is ten minutes slow sees everything that arrives. */
    @Test
    void aSchedulerThatRefusesMostRecordsIsNotReady() {
        Duration slow = Duration.ofMinutes(10);
        Scenario story = new Scenario(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS), Loop.WALL_CLOCK.plus(slow));
        Health health = new Health();
        health.ready();
        try (Loop loop = Loop.live()) {
            health.notReadyWhile(loop::complaint);
            for (int i = 0; i < 30; i++) {
                loop.tell(story.rateRecord("chat", 5, i));
            }

            assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).hasSize(30);
            assertThat(health.whyNotReady())
                    .get()
                    .asString()
                    .isEqualTo(
                            "30 of the last 30 records were refused for clock skew: the median of 30 records is 10m ahead of this machine's clock; synchronize this machine and the writers by NTP");

            loop.pass(slow);
            for (int i = 0; i < 31; i++) {
                RequestRate rate = story.rateRecord("chat", 5, 100 + i);
                loop.sendBytes(
                        TopicCatalogue.REQUEST_RATES,
                        "chat".getBytes(UTF_8),
                        loop.encode(TopicCatalogue.REQUEST_RATES, rate));
            }
            assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).isEmpty();
            assertThat(health.whyNotReady()).isEmpty();
        }
    }
}
