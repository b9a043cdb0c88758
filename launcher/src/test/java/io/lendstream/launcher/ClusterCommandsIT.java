package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class ClusterCommandsIT {

    private static Stack stack;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    @Test
    void topicsAreMissedThenCreatedThenPresent() {
        assertThat(run("one.", "topics", "describe")).isEqualTo(1);
        assertThat(out.toString().lines()).allMatch(line -> line.startsWith("missing  one."));
        assertThat(err.toString()).endsWith("topics are missing; create them with: lendstream topics create\n");

        assertThat(run("one.", "topics", "create", "--partitions", "3")).isZero();
        assertThat(out.toString()).contains("created  one.decisions: partitions 3, replication 1\n");

        assertThat(run("one.", "topics", "create", "--partitions", "3")).isZero();
        assertThat(out.toString()).contains("present  one.decisions: partitions 3, replication 1\n");
    }

    @Test
    void aTopicThatDiffersIsReportedAndNotChanged() {
        run("two.", "topics", "create", "--partitions", "2");

        assertThat(run("two.", "topics", "create", "--partitions", "3")).isZero();

        assertThat(out.toString())
                .contains("present  two.nodes: partitions 2, replication 1; partitions is 2, not 3\n");
    }

    @Test
    void toolsReadTopicsAsJson() throws Exception {
        run("three.", "topics", "create");

        assertThat(run("three.", "topics", "describe", "--json")).isZero();

        JsonNode first = new JsonMapper().readTree(out.toString()).get(0);
        assertThat(first.get("name").asText()).isEqualTo("three.nodes");
        assertThat(first.get("presence").asText()).isEqualTo("present");
        assertThat(first.get("config").get("cleanup.policy").asText()).isEqualTo("compact");
    }

    @Test
    void schemasAreAbsentThenRegisteredThenPresent() {
        assertThat(run("four.", "schemas", "check")).isZero();
        assertThat(out.toString()).contains("absent       four.decisions-value\n");
        assertThat(err.toString())
                .endsWith("are not registered yet; register them with: lendstream schemas register\n");

        assertThat(run("four.", "schemas", "register")).isZero();

        assertThat(run("four.", "schemas", "check")).isZero();
        assertThat(out.toString()).contains("present      four.decisions-value, id ");
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void withoutTheTopicsOfThisVersionTheLogIsReadAllTheSame() throws Exception {
        run("five.", "topics", "create");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", stack.bootstrapServers()))) {
            admin.deleteTopics(List.of("five.snapshots", "five.reasons")).all().get();
            await().until(() -> !admin.listTopics().names().get().contains("five.snapshots"));
        }

        assertThat(run("five.", "explain", "advice/east")).isEqualTo(1);

        assertThat(err.toString())
                .contains("topic five.snapshots is not there", "lendstream topics create")
                .endsWith("domain 'east' has no log; check its name.\n");
    }

    @Test
    void aBrokerThatIsNotThereIsNamedInOneLine() {
        int code = LendstreamMain.run(
                new String[] {"topics", "describe", "--bootstrap-server", "127.0.0.1:1", "--set", "connect-timeout=1s"},
                new PrintWriter(out),
                new PrintWriter(err));

        assertThat(code).isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith("kafka.bootstrap.servers is 127.0.0.1:1, and no broker answered there within 1s."));
    }

    private int run(String prefix, String... command) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        List<String> where = List.of(
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString(),
                "--set",
                "topic-prefix=" + prefix);
        String[] arguments = Stream.concat(Stream.of(command), where.stream()).toArray(String[]::new);
        return LendstreamMain.run(arguments, new PrintWriter(out), new PrintWriter(err));
    }
}
