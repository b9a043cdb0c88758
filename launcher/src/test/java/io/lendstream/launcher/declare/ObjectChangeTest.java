package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ObjectChangeTest {
    private static final Instant BEFORE = Instant.parse("2026-03-01T12:00:00Z");
    private static final Instant NOW = Instant.parse("2026-03-02T12:00:00Z");
    private static final String TOPIC = "lendstream.services";

    private static final String CHAT = """
            apiVersion: lendstream.io/v1
            kind: Service
            metadata: {name: chat}
            spec:
              slo: 4s
              replicaCapacityPerSecond: 1.25
              warmUp: 20s
              floor: 2
              shapes:
                - {name: tp4, gpusPerNode: 4, cold: 90s}
            """;

    private static final String JOB = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata: {name: bert-1}
            spec: {application: bert, gpus: 4}
            """;

    @Test
    void aNewObjectIsCreated() {
        ObjectChange<InferenceService> change = ObjectChange.of(service(CHAT), Optional.empty(), TOPIC, NOW);

        assertThat(change.inWords(false)).isEqualTo("service/chat created");
        assertThat(change.inWords(true)).isEqualTo("service/chat created (dry run: not written)");
        assertThat(change.after().at()).isEqualTo(NOW);
    }

    @Test
    void theSameObjectIsUnchangedWhateverItsTime() {
        ObjectChange<InferenceService> change =
                ObjectChange.of(service(CHAT.replace("20s", "20000ms")), known(CHAT), TOPIC, NOW);

        assertThat(change.isDue()).isFalse();
        assertThat(change.inWords(true)).isEqualTo("service/chat unchanged");
    }

    @Test
    void anUnchangedObjectWhoseProgramCouldNotBeRunIsWrittenAgainAsItIs() {
        ObjectChange<InferenceService> change = ObjectChange.of(service(CHAT), known(CHAT), TOPIC, NOW);
        assertThat(change.unchanged()).contains(new Tenant.Service(new ServiceId("chat")));

        ObjectChange<InferenceService> again = change.again();

        assertThat(again.isDue()).isTrue();
        assertThat(again.after()).isEqualTo(known(CHAT).orElseThrow().value());
        assertThat(again.inWords(true))
                .isEqualTo("service/chat retried (unchanged, but its program could not be run) (dry run: not written)");
    }

    @Test
    void changedFieldsAreNamedWithBothValues() {
        String next = CHAT.replace("floor: 2", "floor: 3\n  queue: team-a").replace("90s", "2m");

        ObjectChange<InferenceService> change = ObjectChange.of(service(next), known(CHAT), TOPIC, NOW);

        assertThat(change.inWords(false))
                .isEqualTo("service/chat changed (floor: 2 -> 3, queue: none -> team-a, shapes[0].cold: 1m30s -> 2m)");
        assertThat(change.after().at()).isEqualTo(NOW);
        ObjectNode json = change.json(false);
        assertThat(json.at("/changes/1/field").asText()).isEqualTo("queue");
        assertThat(json.at("/changes/1").has("before")).isFalse();
        assertThat(json.at("/changes/1/after").asText()).isEqualTo("team-a");
    }

    @Test
    void whatFilesDoNotHaveStaysAsItIs() {
        InferenceService plain = service(CHAT).record(BEFORE, Optional.empty());
        InferenceService withModels = new InferenceService(
                plain.service(),
                plain.domain(),
                BEFORE,
                List.of("llama"),
                plain.slo(),
                plain.replicaCapacityPerSecond(),
                plain.replicaConcurrency(),
                plain.floorReplicas(),
                plain.warmUp(),
                plain.sliceMemoryBytes(),
                plain.queue(),
                plain.hardware());

        ObjectChange<InferenceService> same =
                ObjectChange.of(service(CHAT), Optional.of(written(withModels)), TOPIC, NOW);
        ObjectChange<InferenceService> other = ObjectChange.of(
                service(CHAT.replace("floor: 2", "floor: 1")), Optional.of(written(withModels)), TOPIC, NOW);

        assertThat(same.isDue()).isFalse();
        assertThat(other.after().models()).containsExactly("llama");
    }

    @Test
    void aChangedJobKeepsTheTimeOfItsSubmission() {
        DeclaredObject<TrainingJob> next = job(JOB.replace("gpus: 4", "gpus: 8"));
        TrainingJob before = job(JOB).record(BEFORE, Optional.empty());

        ObjectChange<TrainingJob> change = ObjectChange.of(next, Optional.of(written(before)), TOPIC, NOW);

        assertThat(change.inWords(false)).isEqualTo("job/bert-1 changed (gpus: 4 -> 8)");
        assertThat(change.after().submittedAt()).isEqualTo(BEFORE);
    }

    @Test
    void anObjectKeepsItsDomainAndItsTopic() {
        DeclaredObject<InferenceService> moved = service(CHAT.replace("name: chat", "name: chat, domain: west"));

        assertThatThrownBy(() -> ObjectChange.of(moved, known(CHAT), TOPIC, NOW))
                .hasMessageContaining(
                        "metadata.domain is west, but service/chat is in domain default, which keeps it. Change it back, or choose another name.");
        assertThatThrownBy(() -> ObjectChange.of(service(CHAT), known(CHAT), TOPIC + ".team-a", NOW))
                .hasMessageContaining("was written to topic lendstream.services, but this command writes to");
    }

    private static Optional<Written<InferenceService>> known(String text) {
        return Optional.of(written(service(text).record(BEFORE, Optional.empty())));
    }

    private static <T> Written<T> written(T value) {
        return new Written<>(value, new Origin(TOPIC, 0, 7), BEFORE);
    }

    @SuppressWarnings("unchecked") // the text has one service
    private static DeclaredObject<InferenceService> service(String text) {
        return (DeclaredObject<InferenceService>) only(text);
    }

    @SuppressWarnings("unchecked") // the text has one job
    private static DeclaredObject<TrainingJob> job(String text) {
        return (DeclaredObject<TrainingJob>) only(text);
    }

    private static DeclaredObject<?> only(String text) {
        ObjectReader reader = new ObjectReader();
        reader.read("object.yaml", text);
        assertThat(reader.problems()).isEmpty();
        return reader.objects().get(0);
    }
}
