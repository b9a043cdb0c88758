package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** States that an earlier version left, with records in them that are refused today. */
class OldStateTest {
    private static final Path KEPT = Path.of("src/test/resources/states");
    private static final String SET_ASIDE = "lendstream.state.entries.set.aside";
    /** A few seconds after the states were left. */
    private static final Instant NOW = Scenario.START.plus(Duration.ofSeconds(200));

    static List<Path> kept() throws IOException {
        try (Stream<Path> files = Files.list(KEPT)) {
            return files.filter(file -> file.toString().endsWith(".gz"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("kept")
    void loadsAndTicksAndDecides(Path state) throws IOException {
        try (Loop loop = Loop.keptBy(state, NOW)) {
            loop.pass(Duration.ofSeconds(2));
            loop.tell(rate(2000, loop.wallClock(), 25));
            List<Decision> decisions = ofTheDomain(loop.decisions());

            assertThat(decisions)
                    .as("25 requests/s need 3 replicas of chat, 1 serves, and bert has the other GPUs on loan")
                    .anyMatch(decision -> decision.action() instanceof Action.Reclaim);
            assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).isEmpty();

            loop.events();
            loop.pass(Duration.ofDays(1));
            List<DomainEvent> ticks = ofTheLog(loop.events());

            assertThat(ticks).isNotEmpty();
            assertThat(ticks.get(ticks.size() - 1).at())
                    .isAfter(loop.wallClock().minus(Duration.ofMinutes(5)));
            loop.tell(rate(2001, loop.wallClock(), 1));
            assertThat(ofTheLog(loop.events())).anyMatch(event -> event.event() instanceof RequestRate);
        }
    }

    @Test
    void aUnitWhoseEntryCannotBeUsedIsOutOfServiceAndNotFree() throws IOException {
        try (Loop loop = Loop.keptBy(KEPT.resolve("in-flight.gz"), NOW)) {
            damage(loop, "test\0GPU\0infer-g3", "infer-g3");

            loop.pass(Duration.ofSeconds(2));
            loop.tell(rate(2000, loop.wallClock(), 100));

            assertThat(loop.decisions())
                    .isNotEmpty()
                    .noneMatch(decision -> decision.action().gpus().contains(new GpuId("infer-g3"))
                            && !(decision.action() instanceof Action.Reclaim));
            assertThat(loop.leases().stream().filter(lease -> lease.gpuId().equals(new GpuId("infer-g3"))))
                    .extracting(Lease::owner)
                    .noneMatch(owner ->
                            owner.label().equals("free") || owner.label().equals("binding"));
        }
    }

    @Test
    void entriesThatCannotBeUsedAreCountedByTheirKind() throws IOException {
        try (Loop loop = Loop.keptBy(KEPT.resolve("in-flight.gz"), NOW)) {
            damage(loop, "test\0GPU\0infer-g2", "infer-g2");
            damage(loop, "test\0GPU\0infer-g3", "infer-g3");
            damage(loop, "test\0JOB\0bert", "bert");

            loop.pass(Duration.ofSeconds(2));

            assertThat(loop.count(SET_ASIDE, "kind", "gpu")).isEqualTo(2);
            assertThat(loop.count(SET_ASIDE, "kind", "job")).isEqualTo(1);
            assertThat(loop.count(SET_ASIDE)).isEqualTo(3);
            assertThat(loop.complaint()).as("as before, it works without them").isEmpty();
        }
    }

    @Test
    void noEntryOfAStateThatIsInOrderIsCounted() throws IOException {
        try (Loop loop = Loop.keptBy(KEPT.resolve("in-flight.gz"), NOW)) {
            loop.pass(Duration.ofSeconds(2));

            assertThat(loop.count(SET_ASIDE)).isZero();
        }
    }

    /** Takes the name out of an entry, where it comes first: an empty name is none. */
    private static void damage(Loop loop, String key, String name) {
        byte[] entry = loop.domains().get(key);
        // the first byte after the fingerprint is the length of the name
        int rest = Long.BYTES + 1 + name.length();
        assertThat(new String(entry, Long.BYTES + 1, name.length(), US_ASCII)).isEqualTo(name);
        byte[] nameless = new byte[entry.length - name.length()];
        System.arraycopy(entry, 0, nameless, 0, Long.BYTES);
        System.arraycopy(entry, rest, nameless, Long.BYTES + 1, entry.length - rest);
        loop.domains().put(key, nameless);
    }

    private static List<Decision> ofTheDomain(List<Decision> decisions) {
        return decisions.stream()
                .filter(decision -> decision.id().domain().equals(Scenario.DOMAIN))
                .toList();
    }

    private static List<DomainEvent> ofTheLog(List<DomainEvent> log) {
        return log.stream()
                .filter(event -> event.domain().equals(Scenario.DOMAIN))
                .toList();
    }

    private static RequestRate rate(long sequence, Instant now, int perSecond) {
        return new RequestRate(
                new ServiceId("chat"),
                Scenario.DOMAIN,
                "gateway",
                "boot-1",
                sequence,
                now.minusSeconds(15),
                now,
                RequestRate.Requests.answered(15L * perSecond),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }
}
