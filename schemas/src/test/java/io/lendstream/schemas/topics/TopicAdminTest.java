package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.schemas.topics.TopicState.Presence;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.MockAdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TopicAdminTest {
    private static final int TOPICS = 2 * TopicCatalogue.ALL.size();

    private final MockAdminClient cluster =
            MockAdminClient.create().numBrokers(3).build();
    private final TopicAdmin admin = new TopicAdmin(cluster, TopicCatalogue.standard());

    @AfterEach
    void close() {
        cluster.close();
    }

    private static TopicState state(List<TopicState> states, String name) {
        return states.stream()
                .filter(state -> state.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void createsEveryTopicAndItsDeadLetters() throws Exception {
        List<TopicState> states = admin.create(6, 3);

        assertThat(states).hasSize(TOPICS).allMatch(state -> state.presence() == Presence.CREATED);
        assertThat(states).allMatch(state -> state.drifts().isEmpty()).allMatch(state -> state.replication() == 3);
        assertThat(cluster.listTopics().names().get()).hasSize(TOPICS);
        assertThat(state(states, "lendstream.decisions").partitions()).isEqualTo(6);
        assertThat(state(states, "lendstream.decisions-dlq").partitions()).isEqualTo(1);
        assertThat(config("lendstream.leases"))
                .containsEntry("cleanup.policy", "compact")
                .containsEntry("min.insync.replicas", "2");
        assertThat(config("lendstream.decisions"))
                .containsEntry("retention.ms", "2592000000")
                .containsEntry("message.timestamp.type", "LogAppendTime")
                .doesNotContainEntry("compression.type", "lz4");
        assertThat(config("lendstream.domain-events")).containsEntry("compression.type", "lz4");
    }

    private Map<String, String> config(String topic) throws ExecutionException, InterruptedException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> values = new java.util.HashMap<>();
        cluster.describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .entries()
                .forEach(entry -> values.put(entry.name(), entry.value()));
        return values;
    }

    @Test
    void changesNothingTheSecondTime() {
        admin.create(2, 1);

        List<TopicState> again = admin.create(2, 1);

        assertThat(again).hasSize(TOPICS).allMatch(state -> state.presence() == Presence.PRESENT);
        assertThat(again).allMatch(state -> state.drifts().isEmpty());
    }

    @Test
    void reportsChangedSettingsAndLeavesThem() throws Exception {
        cluster.createTopics(List.of(new NewTopic("lendstream.decisions", Optional.of(3), Optional.of((short) 1))
                        .configs(Map.of("cleanup.policy", "delete", "retention.ms", "1000"))))
                .all()
                .get();
        ConfigResource leases = new ConfigResource(ConfigResource.Type.TOPIC, "lendstream.leases");

        List<TopicState> states = admin.create(2, 1);
        cluster.incrementalAlterConfigs(Map.of(
                        leases,
                        List.of(new AlterConfigOp(
                                new ConfigEntry("cleanup.policy", "delete"), AlterConfigOp.OpType.SET))))
                .all()
                .get();

        assertThat(state(states, "lendstream.decisions").presence()).isEqualTo(Presence.PRESENT);
        assertThat(state(states, "lendstream.decisions").drifts())
                .extracting(TopicState.Drift::toString)
                .contains("partitions is 3, not 2", "retention.ms is 1000, not 2592000000");
        assertThat(state(admin.describe(), "lendstream.leases").drifts())
                .extracting(TopicState.Drift::toString)
                .containsExactly("cleanup.policy is delete, not compact");
    }

    @Test
    void tellsWhereTopicsHaveOtherCopiesThanAreAskedFor() {
        admin.create(2, 1);

        List<TopicState> again = admin.create(2, 3);

        assertThat(again)
                .allSatisfy(state -> assertThat(state.drifts())
                        .extracting(TopicState.Drift::toString)
                        .containsExactly("replication is 1, not 3"));
        assertThat(admin.create(2, -1)).allMatch(state -> state.drifts().isEmpty());
    }

    @Test
    void describesAnEmptyClusterAsMissingEverything() {
        assertThat(admin.describe()).hasSize(TOPICS).allMatch(state -> state.presence() == Presence.MISSING);
    }

    @Test
    void refusesNumbersThatCannotBe() {
        assertThatThrownBy(() -> admin.create(0, 1)).hasMessageContaining("partitions must be at least 1, but was 0");
        assertThatThrownBy(() -> admin.create(1, 0)).hasMessageContaining("replication must be at least 1");
    }

    @Test
    void topicsOfIntakesGetAsManyPartitionsAsTheirBaseTopicsHave() {
        admin.create(6, 3);
        TopicCatalogue withIntake =
                new TopicCatalogue(TopicCatalogue.DEFAULT_PREFIX, Intakes.parse("team-a=east"), Optional.empty());

        List<TopicState> states = new TopicAdmin(cluster, withIntake).create(12, 3);

        assertThat(states).hasSize(TOPICS + TopicCatalogue.OF_INTAKES.size());
        TopicState intake = state(states, "lendstream.services.team-a");
        assertThat(intake.presence()).isEqualTo(Presence.CREATED);
        assertThat(intake.partitions()).isEqualTo(6);
        assertThat(intake.drifts()).isEmpty();
        assertThat(intake.config()).containsEntry("cleanup.policy", "compact");
    }
}
