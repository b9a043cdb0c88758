package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.schemas.registry.CompatibilityLevel;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SubjectReport.Status;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class SchemaSetTest {
    private static final Schema OTHER_NODE = SchemaBuilder.record("Node")
            .namespace("io.lendstream")
            .fields()
            .requiredLong("number")
            .endRecord();

    private final FakeRegistry registry = new FakeRegistry();
    private final RegistryClient client = new RegistryClient(RegistrySettings.at(registry.url()));
    private final SchemaSet schemas = new SchemaSet(client, TopicCatalogue.standard());

    @AfterEach
    void close() {
        registry.close();
    }

    @Test
    void registersEverySubjectHeldToFullTransitiveCompatibility() {
        List<SubjectReport> reports = schemas.register();

        assertThat(reports)
                .hasSize(TopicCatalogue.ALL.size())
                .allMatch(report -> report.status() == Status.NEW_VERSION);
        for (SubjectReport report : reports) {
            assertThat(client.compatibility(report.subject())).contains(CompatibilityLevel.FULL_TRANSITIVE);
            assertThat(client.versions(report.subject())).containsExactly(1);
        }
        assertThat(schemas.register()).allMatch(report -> report.status() == Status.PRESENT);
        assertThat(schemas.check())
                .allMatch(report ->
                        report.status() == Status.PRESENT && report.messages().isEmpty());
    }

    @Test
    void registersAlsoWhereARegistryKeepsLevelsOnlyForSubjectsThatExist() {
        registry.keepLevelsOnlyForKnownSubjects();

        assertThat(schemas.register()).allMatch(SubjectReport::fine);
        assertThat(client.compatibility("lendstream.leases-value")).contains(CompatibilityLevel.FULL_TRANSITIVE);
    }

    @Test
    void checkingChangesNothing() {
        assertThat(schemas.check()).allMatch(report -> report.status() == Status.ABSENT);
        assertThat(client.subjects()).isEmpty();
    }

    @Test
    void aSubjectThatAnotherSystemUsesIsReportedAndLeftAlone() {
        client.register("lendstream.nodes-value", OTHER_NODE);

        List<SubjectReport> reports = schemas.register();

        assertThat(reports.get(0).status()).isEqualTo(Status.INCOMPATIBLE);
        assertThat(reports.get(0).messages())
                .anyMatch(text -> text.contains("version 1 cannot read records of this version"))
                .anyMatch(text -> text.contains("this version cannot read records of version 1"));
        assertThat(client.versions("lendstream.nodes-value")).containsExactly(1);
        assertThat(reports.subList(1, reports.size())).allMatch(SubjectReport::fine);
    }

    @Test
    void saysWhenASubjectIsHeldToLess() {
        schemas.register();
        client.setCompatibility("lendstream.nodes-value", CompatibilityLevel.BACKWARD);

        SubjectReport nodes = schemas.check().get(0);

        assertThat(nodes.fine()).isTrue();
        assertThat(nodes.messages())
                .containsExactly(
                        "compatibility is BACKWARD, not FULL_TRANSITIVE; 'lendstream schemas register' sets it");
    }
}
