package io.lendstream.core.state;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Windows too short for a rate give one together, once they cover five seconds. */
class ShortWindowsTest {
    private static final String SOURCE = "gateway";

    private final Scenario story = Scenario.of("deepboot").service("chat", 1);
    private ServiceState chat = ServiceState.of(story.serviceRecord("chat", 1));
    private String boot = "boot-1";
    private long sequence;
    private Instant now = Scenario.START;

    private RequestRate window(Duration length, long arrivals, int waiting) {
        RequestRate plain = story.rateRecord("chat", 0, ++sequence);
        return new RequestRate(
                plain.service(),
                plain.domain(),
                SOURCE,
                boot,
                sequence,
                now,
                now.plus(length),
                new RequestRate.Requests(arrivals, arrivals, 2 * waiting, waiting),
                plain.latency(),
                List.of(),
                List.of());
    }

    /** As the scheduler does: what it has seen before is no news. */
    private void take(RequestRate rate, boolean sums) {
        if (!chat.hasSeen(rate)) {
            chat = chat.observed(rate, sums, sequence);
        }
    }

    /** The rate after a window that follows the last one. */
    private double after(Duration length, long arrivals) {
        take(window(length, arrivals, 0), true);
        now = now.plus(length);
        return chat.arrivalsPerSecond();
    }

    /** Seeds run on one instance of the test. */
    private void begin() {
        chat = ServiceState.of(story.serviceRecord("chat", 1));
        now = Scenario.START;
    }

    private SourceRate source() {
        return chat.sources().values().iterator().next();
    }

    @Test
    void fiveWindowsOfASecondGiveARate() {
        assertThat(after(ofSeconds(1), 7)).as("the first counts at once").isEqualTo(7);
        assertThat(after(ofSeconds(1), 0)).isEqualTo(7);
        assertThat(after(ofSeconds(1), 20)).isEqualTo(7);
        assertThat(after(ofSeconds(1), 0)).isEqualTo(7);
        assertThat(after(ofSeconds(1), 3)).isEqualTo(6);
        assertThat(source().unrated()).isEmpty();

        for (int i = 0; i < 4; i++) {
            assertThat(after(ofSeconds(1), 100)).isEqualTo(6);
        }
        assertThat(after(ofSeconds(1), 100)).isEqualTo(100);
    }

    @Test
    void withoutTheSettingTheFirstRateStays() {
        for (int i = 0; i < 20; i++) {
            take(window(ofMillis(4999), i, 0), false);
            now = now.plusMillis(4999);
        }

        assertThat(chat.arrivalsPerSecond()).isZero();
        assertThat(source().unrated()).isEmpty();
        assertThat(chat.stuckSources()).containsExactly(SOURCE);
    }

    @Test
    void waitingRequestsCountAtOnce() {
        after(ofSeconds(5), 50);

        take(window(ofSeconds(1), 1000, 30), true);

        assertThat(chat.queueDepth()).isEqualTo(30);
        assertThat(chat.inFlight()).isEqualTo(60);
        assertThat(chat.arrivalsPerSecond()).isEqualTo(10);
        assertThat(chat.lastRateAt()).contains(now.plusSeconds(1));
    }

    @Test
    void gapsBetweenWindowsAreNoTimeWithoutRequests() {
        after(ofSeconds(5), 0);
        for (int i = 0; i < 4; i++) {
            after(ofSeconds(1), 10);
            now = now.plusSeconds(59);
        }

        assertThat(after(ofSeconds(1), 10)).isEqualTo(10);
    }

    @Test
    void aWindowThatComesTwiceOrTooLateCountsOnce() {
        after(ofSeconds(5), 0);
        RequestRate overtaken = window(ofSeconds(1), 1000, 0);
        RequestRate first = window(ofSeconds(3), 12, 0);
        take(first, true);
        take(first, true);
        take(overtaken, true);
        now = now.plusSeconds(3);

        assertThat(after(ofSeconds(3), 12)).isEqualTo(4);
    }

    @Test
    void aNewBootGoesOnWithTheSum() {
        after(ofSeconds(5), 50);
        for (int i = 2; i <= 6; i++) {
            boot = "boot-" + i;
            sequence = 0;
            double rate = after(ofSeconds(1), 30);
            assertThat(rate).as("second %d", i - 1).isEqualTo(i < 6 ? 10 : 30);
        }
    }

    @Test
    void windowsAfterAMinuteOfSilenceBeginANewSum() {
        after(ofSeconds(5), 50);
        after(ofSeconds(4), 4000);
        now = now.plusSeconds(61);

        assertThat(after(ofSeconds(1), 5)).as("that of before").isEqualTo(10);
        assertThat(after(ofSeconds(4), 20)).isEqualTo(5);
    }

    @Test
    void aLongWindowTakesTheShortOnesBeforeItIntoItsRate() {
        after(ofSeconds(15), 0);
        assertThat(after(ofSeconds(3), 90)).isZero();

        assertThat(after(ofSeconds(12), 0)).isEqualTo(6);
        assertThat(after(ofSeconds(15), 30)).isEqualTo(2);
        assertThat(chat.window()).isEqualTo(ofSeconds(15));
    }

    @Test
    void aSourceThatWasGoneBeginsAgain() {
        after(ofSeconds(5), 50);
        after(ofSeconds(4), 4000);
        now = now.plus(ofMinutes(11));

        assertThat(after(ofSeconds(1), 3)).as("as of a new source").isEqualTo(3);
        after(ofSeconds(3), 9);
        assertThat(after(ofSeconds(1), 8)).isEqualTo(4);
    }

    @Test
    void aSourceOfShortWindowsIsAwaitedAsLongAsOneOfFiveSeconds() {
        after(ofSeconds(1), 7);
        after(ofSeconds(1), 7);

        assertThat(chat.window()).isEqualTo(ofSeconds(5));
        assertThat(chat.patience()).isEqualTo(ofSeconds(15));
        assertThat(chat.stuckSources()).isEmpty();
    }

    /** Splits one series of arrivals into windows at random. Each arrival counts to one rate, that of its time. */
    @Seeds
    void eachRateIsThatOfTheTimeSinceTheLastOne(Random random) {
        begin();
        int seconds = 600;
        long[] arrivals = random.longs(seconds, 0, 200).toArray();
        boolean mixed = random.nextBoolean();
        int longest = mixed ? 30 : 1 + random.nextInt(5);
        long counted = 0;
        long total = 0;
        long sinceRate = 0;
        int ratedTo = 0;
        for (int at = 0; at < seconds; ) {
            int length = Math.min(seconds - at, 1 + random.nextInt(longest));
            long sum = 0;
            for (int i = at; i < at + length; i++) {
                sum += arrivals[i];
            }
            double before = chat.arrivalsPerSecond();
            RequestRate window = window(ofSeconds(length), sum, 0);
            take(window, true);
            take(window, true);
            now = now.plusSeconds(length);
            at += length;
            total += sum;
            sinceRate += sum;
            if (at - ratedTo >= 5) {
                assertThat(chat.arrivalsPerSecond()).isCloseTo((double) sinceRate / (at - ratedTo), within(1e-9));
                counted += Math.round(chat.arrivalsPerSecond() * (at - ratedTo));
                ratedTo = at;
                sinceRate = 0;
            } else if (at > length) {
                assertThat(chat.arrivalsPerSecond()).isEqualTo(before);
            }
            assertThat(source().unrated().map(ShortWindows::arrivals).orElse(0L))
                    .isEqualTo(sinceRate);
        }
        assertThat(counted + sinceRate).isEqualTo(total);
    }

    /** However a steady load is split, its rate is right within what one request more or less makes of five seconds. */
    @Seeds
    void aSteadyLoadHasItsRateUnderEachSplit(Random random) {
        begin();
        double perSecond = 1 + random.nextInt(500);
        long begun = 0;
        long millis = 0;
        long ratedTo = 0;
        while (millis < 300_000) {
            long length = 1L + random.nextInt(random.nextInt(4) == 0 ? 30_000 : 2_000);
            millis += length;
            long until = (long) Math.floor(perSecond * millis / 1000);
            after(ofMillis(length), until - begun);
            begun = until;
            if (millis - ratedTo >= 5_000) {
                ratedTo = millis;
                assertThat(chat.arrivalsPerSecond()).isCloseTo(perSecond, within(0.2));
            }
        }
    }
}
