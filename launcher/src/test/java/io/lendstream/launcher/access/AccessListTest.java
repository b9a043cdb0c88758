package io.lendstream.launcher.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.launcher.cli.UserError;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AccessListTest {
    private static final Path OURS = Path.of("../deploy/acl");

    @TempDir
    private Path directory;

    @Test
    void onlyTheSchedulerMayWriteDecisionsAndLeases() {
        for (String name : List.of("gpus.decisions", "gpus.leases", "gpus.domain-events", "gpus.batching-decisions")) {
            assertThat(AccessList.readAll(OURS, "gpus.", List.of()).stream()
                            .filter(list -> list.bindings().stream().anyMatch(binding -> allowsWriting(binding, name))))
                    .as(name)
                    .extracting(AccessList::user)
                    .containsExactly("scheduler");
        }
    }

    private static boolean allowsWriting(AclBinding binding, String topic) {
        boolean named = binding.pattern().patternType() == PatternType.PREFIXED
                ? topic.startsWith(binding.pattern().name())
                : topic.equals(binding.pattern().name());
        return named
                && (binding.entry().operation() == AclOperation.WRITE
                        || binding.entry().operation() == AclOperation.ALL);
    }

    @Test
    void aStarAtTheEndIsAllThatStartSo() {
        Grant grant = Grant.parse("topic {prefix}scheduler-*: read describe_configs", "a.");

        assertThat(grant.kafkaAcls("scheduler"))
                .isEqualTo("kafka-acls --add --allow-principal 'User:scheduler' --operation read"
                        + " --operation describeconfigs --topic 'a.scheduler-' --resource-pattern-type prefixed");
        assertThat(grant.bindings("scheduler")).hasSize(2);
    }

    @Test
    void aLineThatIsNoGrantIsNamedWithItsFileAndNumber() throws Exception {
        for (String wrong : List.of(
                "topic: read", "cluster x: alter", "topic x: reed", "topic x read", "queue x: read", "topic x: any")) {
            Files.writeString(directory.resolve("wrong.acl"), "# comment\n\n" + wrong + "\n");

            assertThatThrownBy(() -> AccessList.readAll(directory, "", List.of()))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining(
                            "wrong.acl, line 3: '" + (wrong.startsWith("topic x: ") ? wrong.substring(9) : wrong));
        }
    }

    @Test
    void aDirectoryWithoutListsIsRefused() {
        assertThatThrownBy(() -> AccessList.readAll(directory, "", List.of()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("has no file that ends in .acl");
    }

    @Test
    void aTemplateStandsForAPrincipalOfEachIntake() {
        List<AccessList> lists = AccessList.readAll(OURS.resolve("intakes"), "gpus.", List.of("team-a", "team-b"));

        assertThat(lists)
                .extracting(AccessList::user)
                .containsExactlyInAnyOrder(
                        "agent-team-a",
                        "agent-team-b",
                        "operator-team-a",
                        "operator-team-b",
                        "workload-team-a",
                        "workload-team-b");
        for (AccessList list : lists) {
            String intake = list.user().substring(list.user().indexOf('-') + 1);
            assertThat(list.bindings())
                    .filteredOn(binding -> binding.entry().operation() == AclOperation.WRITE)
                    .filteredOn(binding -> !binding.pattern().name().startsWith("gpus.doctor-"))
                    .as(list.user())
                    .isNotEmpty()
                    .allMatch(binding -> binding.pattern().patternType() == PatternType.LITERAL
                            && binding.pattern().name().endsWith("." + intake));
        }
    }

    @Test
    void aTemplateWithoutAnyIntakeIsRefused() {
        assertThatThrownBy(() -> AccessList.readAll(OURS.resolve("intakes"), "gpus.", List.of()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("name them with --name, or in the setting intakes");
    }
}
