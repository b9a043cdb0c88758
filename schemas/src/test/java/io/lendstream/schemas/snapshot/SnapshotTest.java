package io.lendstream.schemas.snapshot;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.Bytes;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.MeasurementRules;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.SnapshotPart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

final class SnapshotTest {
    private static final int SMALL = 200;

    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 6)
            .queue("team", 4)
            .service("chat", 1)
            .service("draw", 1, "team")
            .settled()
            .job("bert", 4)
            .job("gpt", 2, "team")
            .rate("chat", 3)
            .settled()
            .after(ofSeconds(60))
            .rate("chat", 3)
            .settled();
    private final List<String> notes = new ArrayList<>();

    private List<SnapshotPart> parts(int bytes) {
        return parts(story.state(), bytes);
    }

    private static List<SnapshotPart> parts(ClusterState state, int bytes) {
        List<SnapshotPart> parts = new ArrayList<>();
        new SnapshotWriting(state, scheduler(state), "1.2", bytes).forEachRemaining(parts::add);
        return parts;
    }

    private static SchedulerStarted scheduler(ClusterState state) {
        return new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS).inOffice(state);
    }

    private Optional<Snapshot> read(List<SnapshotPart> parts) {
        SnapshotShelf shelf = new SnapshotShelf();
        parts.forEach(shelf::take);
        return shelf.nearest(Scenario.DOMAIN, Long.MAX_VALUE, notes::add);
    }

    @Test
    void comesBackAsItWasWhateverItsParts() {
        assertThat(parts(SnapshotWriting.PART_BYTES)).hasSize(1);
        assertThat(parts(SMALL)).hasSizeGreaterThan(5);

        for (int bytes : new int[] {1, SMALL, SnapshotWriting.PART_BYTES}) {
            Snapshot snapshot = read(parts(bytes)).orElseThrow();
            assertThat(snapshot.state()).isEqualTo(story.state());
            assertThat(snapshot.scheduler()).isEqualTo(scheduler(story.state()));
            assertThat(snapshot.version()).isEqualTo("1.2");
        }
        assertThat(notes).isEmpty();
    }

    @Test
    void rememberedApplicationsComeBack() {
        Scheduler learning = new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.DEFAULTS.withMeasurements(new MeasurementRules(true, Duration.ofDays(9), true)));
        Scenario nightly = new Scenario(learning).job("a", 1).job("b", 1);
        nightly.progress("a", JobPhase.CANCELLED)
                .withoutTicks(Duration.ofHours(25))
                .tell(new Tick(Scenario.DOMAIN, nightly.now()));
        assertThat(nightly.state().entities().applications().size()).isEqualTo(1);

        ClusterState again = read(parts(nightly.state(), SMALL)).orElseThrow().state();

        assertThat(again).isEqualTo(nightly.state());
        assertThat(notes).isEmpty();
    }

    @Test
    void equalStatesGiveEqualParts() {
        ClusterState again = read(parts(SMALL)).orElseThrow().state();

        assertThat(parts(again, SMALL)).isEqualTo(parts(SMALL));
    }

    @Test
    void repeatedPartsDoNoHarm() {
        List<SnapshotPart> twice = new ArrayList<>(parts(SMALL).subList(0, 3));
        twice.addAll(parts(SMALL));
        twice.addAll(parts(SMALL));

        assertThat(read(twice).map(Snapshot::state)).contains(story.state());
    }

    @Test
    void isPassedOverForAnOlderOneWithAnyPartMissing() {
        List<SnapshotPart> older = parts(SMALL);
        story.after(ofSeconds(30));
        List<SnapshotPart> newer = parts(SMALL);

        for (int missing = 0; missing < newer.size(); missing++) {
            List<SnapshotPart> all = new ArrayList<>(older);
            all.addAll(newer);
            all.remove(older.size() + missing);
            assertThat(read(all).orElseThrow().sequence())
                    .isEqualTo(older.get(0).position().eventSequence());
        }
        assertThat(notes).hasSize(newer.size()).allMatch(note -> note.contains("missing"));
        assertThat(notes.get(0)).contains("passed over: its part 0 is missing");
        assertThat(notes.get(newer.size() - 1)).contains("its last part is missing");
    }

    @Test
    void isPassedOverWithADamagedPart() {
        List<SnapshotPart> parts = parts(SMALL);
        SnapshotPart third = parts.get(2);
        byte[] damaged = third.content().toArray();
        damaged[damaged.length / 2] ^= 1;
        parts.set(2, with(third, 1, third.checksum(), damaged));

        assertThat(read(parts)).isEmpty();
        assertThat(notes).singleElement().asString().endsWith("the checksum of its part 2 is wrong");
    }

    @Test
    void isPassedOverInAnEncodingThatThisVersionDoesNotKnow() {
        SnapshotPart only = parts(SnapshotWriting.PART_BYTES).get(0);

        assertThat(read(List.of(with(only, 2, only.checksum(), only.content().toArray()))))
                .isEmpty();
        assertThat(notes)
                .singleElement()
                .asString()
                .endsWith("version 1.2 wrote it in encoding 2, but this version reads 1");
    }

    @Test
    void isPassedOverWithContentThatNoVersionWrites() {
        byte[] junk = {1, 2, 3};
        CRC32 right = new CRC32();
        right.update(junk);
        SnapshotPart only = parts(SnapshotWriting.PART_BYTES).get(0);

        assertThat(read(List.of(with(only, 1, right.getValue(), junk)))).isEmpty();
        assertThat(notes)
                .singleElement()
                .asString()
                .contains("version 1.2 wrote it, and this version cannot read it: ");
    }

    @Test
    void isPassedOverWithASettingThatThisVersionDoesNotKnow() {
        isPassedOver("its scheduler has the unknown settings half-lend", "half-lend", "true");
    }

    @Test
    void isPassedOverWithASettingThatIsNoDuration() {
        isPassedOver("Text cannot be parsed to a Duration", "lease", "soon");
    }

    private void isPassedOver(String why, String key, String value) {
        SchedulerStarted started = scheduler(story.state());
        Map<String, String> settings = new HashMap<>(started.settings());
        settings.put(key, value);
        List<SnapshotPart> parts = new ArrayList<>();
        new SnapshotWriting(
                        story.state(),
                        new SchedulerStarted(
                                started.domain(),
                                started.at(),
                                started.epoch(),
                                started.policy(),
                                settings,
                                started.decidesFrom()),
                        "1.2",
                        SMALL)
                .forEachRemaining(parts::add);

        assertThat(read(parts)).isEmpty();
        assertThat(notes).singleElement().asString().contains(why);
    }

    @Test
    void factsOfANewerVersionAreNotSilentlyLost() {
        assertThat(EntryCodecs.unknown(SnapshotEntry.GPU, EntryCodecs.schema(SnapshotEntry.GPU)))
                .isEmpty();
        assertThat(EntryCodecs.unknown(SnapshotEntry.GPU, EntryCodecs.schema(SnapshotEntry.JOB)))
                .contains("JobState.spec");
    }

    @Test
    void onlyAnOlderOneThanWantedCounts() {
        SnapshotShelf shelf = new SnapshotShelf();
        parts(SMALL).forEach(shelf::take);
        long sequence = story.state().eventSequence();

        assertThat(shelf.nearest(Scenario.DOMAIN, sequence, notes::add)).isPresent();
        assertThat(shelf.nearest(Scenario.DOMAIN, sequence - 1, notes::add)).isEmpty();
        assertThat(shelf.sequences(Scenario.DOMAIN)).containsExactly(sequence);
    }

    private static SnapshotPart with(SnapshotPart part, int encoding, long checksum, byte[] content) {
        return new SnapshotPart(
                part.domain(),
                part.position(),
                part.scheduler(),
                part.version(),
                encoding,
                part.part(),
                part.last(),
                checksum,
                Bytes.of(content));
    }
}
