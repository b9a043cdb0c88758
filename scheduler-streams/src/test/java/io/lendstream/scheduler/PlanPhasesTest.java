package io.lendstream.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlanPhasesTest {
    @Test
    void domainsAreSpreadOverThePeriodHoweverManyThereAre() {
        PlanPhases turns = new PlanPhases(ofSeconds(60));

        assertThat(Stream.generate(turns::next).limit(5))
                .containsExactly(Duration.ZERO, ofSeconds(30), ofSeconds(15), ofSeconds(45), Duration.ofMillis(7500));
    }

    @Test
    void noTwoOfTheFirstThousandTurnsAreCloserThanATwoThousandthOfThePeriod() {
        PlanPhases turns = new PlanPhases(ofSeconds(60));
        var taken = new TreeSet<Duration>();
        for (int i = 0; i < 1000; i++) {
            Duration next = turns.next();
            assertThat(next).isBetween(Duration.ZERO, ofSeconds(60).minusMillis(1));
            assertThat(taken.subSet(next.minusMillis(29), next.plusMillis(30))).isEmpty();
            taken.add(next);
        }
    }
}
