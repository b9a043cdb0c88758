package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lendstream.core.decision.Decision;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;

/** What {@code explain} says of the reclaim in {@link OperationIT}. */
record ExplainedReclaim(Deployment deployment, Decision reclaim) {
    /** While the log is there, a replay starts at the nearest snapshot. */
    void fromASnapshot() throws IOException {
        assertThat(explained())
                .contains(
                        "lendstream.request-rates-0@",
                        "chat: 2 (2 needed for the current load",
                        "(" + reclaim.action().gpus().get(0) + ")",
                        "lent to job llama",
                        "in force after",
                        "Replayed from the snapshot of event ",
                        "equal to the record.");
        JsonNode json = new JsonMapper()
                .readTree(deployment
                        .command("explain", reclaim.id().toString(), "--json")
                        .out());
        assertThat(json.at("/replay/equal").asBoolean()).isTrue();
        long lastInput = reclaim.reason().inputs().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElseThrow();
        assertThat(json.at("/replay/snapshot/event").asLong())
                .as("the event of the snapshot that the replay begins with")
                .isBetween(2L, lastInput - 1);
        assertThat(json.get("alternatives").get(0).get("chosen").asBoolean()).isTrue();
        assertThat(json.get("outcome").get("seconds").asDouble()).isPositive();
    }

    /** After the time for which Kafka keeps log, decisions and snapshots: only the end of the log is left. */
    void withoutTheLog() throws Exception {
        try (Admin admin = Admin.create(deployment.kafka().admin())) {
            drop(admin, TopicCatalogue.DOMAIN_EVENTS, 20);
            drop(admin, TopicCatalogue.DECISIONS, 0);
            drop(admin, TopicCatalogue.SNAPSHOTS, 0);
        }

        assertThat(explained())
                .contains("not replayed: the log begins at ", ", after this decision or events it rests on.")
                .doesNotContain("not read: ");
    }

    /** What it says in any case. */
    private String explained() {
        Printed printed = deployment.command("explain", reclaim.id().toString());
        assertThat(printed.exit()).as(printed.err()).isZero();
        assertThat(printed.out())
                .contains(
                        reclaim.id() + ": reclaim ", "15.0 requests/s offered to chat", " of job llama, which keeps 0");
        return printed.out();
    }

    /** Deletes the records of a topic but the last ones. */
    private static void drop(Admin admin, Topic<?> topic, long kept) throws Exception {
        TopicPartition partition = new TopicPartition(Deployment.TOPICS.name(topic), 0);
        long end = admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                .partitionResult(partition)
                .get()
                .offset();
        admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(end - kept)))
                .all()
                .get();
    }
}
