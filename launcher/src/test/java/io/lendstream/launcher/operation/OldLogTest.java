package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.schemas.snapshot.SnapshotWriting;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.apache.avro.Schema;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/**
 * The log, the decisions and the leases that the version before bounds wrote after it accepted records that are refused today:
 * times of 1970 and of 2^63 ms, and names with NUL, line breaks, and {@code ..}.
 *
 * <p>A file is compressed with gzip: the schema (four bytes of length, JSON), the number of records (four bytes), and each
 * record (four bytes of length, Avro).
 */
class OldLogTest {
    private static final DomainId DOMAIN = new DomainId("test");

    @Test
    void theCheckerReadsAllOfItAndFindsEveryPromiseKept() throws IOException {
        List<DomainEvent> log = ofTheDomain();
        List<Decision> decisions = inTodaysWords(decisions(), log);
        List<Lease> leases = kept(TopicCatalogue.LEASES).stream()
                .filter(lease -> lease.domain().equals(DOMAIN))
                .toList();

        Verdict verdict = HistoryChecker.check(DOMAIN, log, decisions, leases);

        assertThat(log).hasSizeGreaterThan(50);
        assertThat(verdict.events()).isEqualTo(log.size());
        assertThat(verdict.violations()).isEmpty();
    }

    @Test
    void everyDecisionIsExplained() throws IOException {
        List<DomainEvent> log = ofTheDomain();

        assertThat(decisions()).hasSizeGreaterThan(3).allSatisfy(decision -> {
            Explainer explainer = new Explainer(decision);
            log.forEach(explainer::take);
            assertThat(explainer.isDone()).isTrue();
            assertThat(explainer.explanation().obstacle()).isEmpty();
            assertThat(explainer.explanation().made().orElseThrow().again())
                    .hasValueSatisfying(
                            again -> assertThat(inTodaysWords(decision, again)).isEqualTo(again));
        });
    }

    @Test
    void everyDecisionIsExplainedAfterAnySnapshotAsFromTheBeginning() throws IOException {
        List<DomainEvent> log = ofTheDomain();
        SnapshotShelf shelf = new SnapshotShelf();
        ClusterState state = ClusterState.empty(DOMAIN);
        Optional<Scheduler> scheduler = Optional.empty();
        for (DomainEvent event : log) {
            scheduler = event.event().asStarted().map(Scheduler::of).or(Optional.of(scheduler)::get);
            state = scheduler.orElseThrow().step(state, event).state();
            new SnapshotWriting(state, scheduler.get().inOffice(state), "old", 1_000).forEachRemaining(shelf::take);
        }
        assertThat(shelf.sequences(DOMAIN)).hasSameSizeAs(log);
        for (Decision decision : decisions()) {
            Explainer whole = new Explainer(decision);
            log.forEach(whole::take);
            long trigger = decision.reason().inputs().stream()
                    .mapToLong(Long::longValue)
                    .max()
                    .orElseThrow();
            for (long upTo = trigger - 1; upTo > 0; upTo -= 5) {
                Snapshot start = shelf.nearest(DOMAIN, upTo, Assertions::fail).orElseThrow();
                Explainer part = new Explainer(decision).after(start);
                log.forEach(part::take);
                Explanation explained = part.explanation();
                assertThat(explained.made().orElseThrow().again())
                        .isEqualTo(whole.explanation().made().orElseThrow().again());
                if (!part.missesPlan()) {
                    assertThat(explained.made()).isEqualTo(whole.explanation().made());
                }
                assertThat(explained.inputs()).isEqualTo(whole.explanation().inputs());
            }
        }
    }

    /** The old decisions, each with the reason text that the log gives today. */
    private static List<Decision> inTodaysWords(List<Decision> old, List<DomainEvent> log) {
        return old.stream()
                .map(decision -> {
                    Explainer explainer = new Explainer(decision);
                    log.forEach(explainer::take);
                    return explainer
                            .explanation()
                            .made()
                            .orElseThrow()
                            .again()
                            .map(again -> inTodaysWords(decision, again))
                            .orElse(decision);
                })
                .toList();
    }

    /**
     * An old decision with the reason text of the same decision today. Versions may word a reason differently and add
     * numbers to it; code, inputs and the old numbers stay.
     */
    private static Decision inTodaysWords(Decision old, Decision today) {
        assertThat(today.reason().numbers()).containsAllEntriesOf(old.reason().numbers());
        Reason reason = new Reason(
                old.reason().code(),
                today.reason().text(),
                today.reason().numbers(),
                old.reason().inputs());
        return new Decision(old.id(), old.at(), old.deadline(), old.advisory(), reason, old.action());
    }

    private static List<DomainEvent> ofTheDomain() throws IOException {
        return kept(TopicCatalogue.DOMAIN_EVENTS).stream()
                .filter(event -> event.domain().equals(DOMAIN))
                .toList();
    }

    private static List<Decision> decisions() throws IOException {
        return kept(TopicCatalogue.DECISIONS).stream()
                .filter(decision -> decision.id().domain().equals(DOMAIN))
                .toList();
    }

    private static <T> List<T> kept(Topic<T> topic) throws IOException {
        Path file = Path.of("src/test/resources/history").resolve(topic + ".gz");
        List<T> values = new ArrayList<>();
        try (var in = new DataInputStream(new GZIPInputStream(Files.newInputStream(file)))) {
            Schema writer = new Schema.Parser().parse(new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8));
            for (int left = in.readInt(); left > 0; left--) {
                byte[] record = in.readNBytes(in.readInt());
                values.add(Codecs.decode(topic, AvroBytes.read(record, writer, Codecs.schema(topic))));
            }
        }
        return values;
    }
}
