package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.schemas.topics.Topic.Cleanup;
import java.time.Duration;
import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

final class TopicCatalogueTest {
    private static final TopicCatalogue STANDARD = TopicCatalogue.standard();

    @Test
    void hasTheTopicsOfTheDesignWithTheirCleanup() {
        assertThat(TopicCatalogue.ALL.stream()
                        .map(topic ->
                                STANDARD.name(topic) + " " + topic.cleanup().policy()))
                .containsExactly(
                        "lendstream.nodes compact",
                        "lendstream.gpu-telemetry delete",
                        "lendstream.services compact",
                        "lendstream.request-rates delete",
                        "lendstream.training-jobs compact",
                        "lendstream.training-progress delete",
                        "lendstream.queues compact",
                        "lendstream.domain-settings compact",
                        "lendstream.demand-forecasts compact,delete",
                        "lendstream.domain-events delete",
                        "lendstream.decisions delete",
                        "lendstream.snapshots delete",
                        "lendstream.reasons delete",
                        "lendstream.batching-decisions compact,delete",
                        "lendstream.leases compact",
                        "lendstream.actuation-reports delete",
                        "lendstream.actuators compact",
                        "lendstream.control delete",
                        "lendstream.progress compact");
    }

    @Test
    void keepsTheAuditLogForThirtyDaysAtLeast() {
        for (Topic<?> topic :
                List.of(TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.DECISIONS, TopicCatalogue.ACTUATION_REPORTS)) {
            assertThat(topic.retention().orElseThrow()).isGreaterThanOrEqualTo(Duration.ofDays(30));
        }
    }

    @Test
    void keepsASnapshotForEveryEventThatTheLogKeeps() {
        assertThat(TopicCatalogue.SNAPSHOTS.retention()).isEqualTo(TopicCatalogue.DOMAIN_EVENTS.retention());
    }

    @Test
    void keepsReasonsLongerThanTheLog() {
        assertThat(TopicCatalogue.REASONS.retention()).contains(Duration.ofDays(400));
    }

    @Test
    void everythingThatIsDeletedSaysWhen() {
        for (Topic<?> topic : TopicCatalogue.ALL) {
            assertThat(topic.retention().isPresent()).as(topic.suffix()).isEqualTo(topic.cleanup() != Cleanup.COMPACT);
        }
    }

    @Test
    void aSiteMayChooseThePrefix() {
        TopicCatalogue site = new TopicCatalogue("acme.gpu-");

        assertThat(site.name(TopicCatalogue.LEASES)).isEqualTo("acme.gpu-leases");
        assertThat(site.deadLetters(TopicCatalogue.NODES)).isEqualTo("acme.gpu-nodes-dlq");
        assertThat(site.subject(TopicCatalogue.DECISIONS)).isEqualTo("acme.gpu-decisions-value");
        assertThat(site.find("acme.gpu-control")).contains(TopicCatalogue.CONTROL);
        assertThat(site.find("lendstream.control")).isEmpty();
        assertThatThrownBy(() -> new TopicCatalogue("acme_gpu.")).hasMessageContaining("'acme_gpu.'");
        assertThatThrownBy(() -> new TopicCatalogue("acme")).hasMessageContaining("end with '.' or '-'");
    }

    @Test
    void everyRecordThatConcernsADomainCarriesIt() {
        for (Topic<?> topic : TopicCatalogue.ALL) {
            Schema schema = WireSchemas.of(topic.recordName());
            Schema.Field own = schema.getField("domain");
            Schema.Field inId = schema.getField("id");
            assertThat(own != null || inId.schema().getField("domain") != null)
                    .as(topic.suffix())
                    .isTrue();
        }
    }
}
