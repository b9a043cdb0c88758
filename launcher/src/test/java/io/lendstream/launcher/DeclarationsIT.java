package io.lendstream.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands that declare services, jobs, queues and settings of domains, on a broker and a registry. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class DeclarationsIT {
    private static final int PARTITIONS = 2;
    private static final List<String> EXAMPLES = Stream.of(
                    "llm-service", "elastic-job", "gang-job", "queues", "domain-settings")
            .map(name -> "../examples/declarations/%s.yaml".formatted(name))
            .toList();

    private static Stack stack;
    private static int sites;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private String prefix = "";

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    @BeforeEach
    void topics() {
        sites++;
        prefix = "site" + sites + ".";
        run("topics", "create", "--partitions", Integer.toString(PARTITIONS));
    }

    @Test
    void whatIsAppliedIsThereAndIsWrittenOnce() throws Exception {
        applyExamples("--dry-run");
        assertThat(out.toString().lines())
                .contains("service/chat-8b created (dry run: not written)", "job/bert-1 created (dry run: not written)")
                .hasSize(9);
        assertThat(written()).isZero();

        applyExamples();
        assertThat(out.toString().lines())
                .contains("service/chat-8b created", "queue/trials created")
                .hasSize(9);
        assertThat(written()).isEqualTo(9);

        applyExamples();
        assertThat(out.toString().lines()).hasSize(9).allMatch(line -> line.endsWith(" unchanged"));
        assertThat(written()).isEqualTo(9);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void whatIsShownCanBeAppliedAgain() throws Exception {
        applyExamples();

        assertThat(run("get", "-o", "yaml")).isZero();
        assertThat(applyInput(out.toString())).isZero();
        assertThat(out.toString().lines()).hasSize(9).allMatch(line -> line.endsWith(" unchanged"));
        assertThat(run("get", "-o", "json")).isZero();
        assertThat(json().get("items")).hasSize(9);
        assertThat(applyInput(out.toString())).isZero();
        assertThat(out.toString().lines()).hasSize(9).allMatch(line -> line.endsWith(" unchanged"));
        assertThat(written()).isEqualTo(9);
    }

    @Test
    void aChangeIsShownAndReplacesTheObject() throws Exception {
        applyExamples();
        run("get", "service/chat-8b", "-o", "yaml");
        String changed = out.toString().replace("floor: 1", "floor: 2");

        assertThat(applyInput(changed, "--dry-run")).isZero();
        assertThat(out.toString()).isEqualTo("service/chat-8b changed (floor: 1 -> 2) (dry run: not written)\n");
        assertThat(written()).isEqualTo(9);
        assertThat(applyInput(changed, "--json")).isZero();
        assertThat(json().get(0).get("outcome").asText()).isEqualTo("changed");
        assertThat(json().at("/0/changes/0/after").asInt()).isEqualTo(2);
        assertThat(written()).isEqualTo(10);

        assertThat(run("get", "services", "chat-8b", "-o", "json")).isZero();
        assertThat(json().at("/spec/floor").asInt()).isEqualTo(2);
        assertThat(json().at("/metadata/domain").asText()).isEqualTo("default");
    }

    @Test
    void objectsAreListedAndDescribed() throws Exception {
        applyExamples();

        assertThat(run("get", "jobs")).isZero();
        assertThat(out.toString().lines().map(line -> line.replaceAll(" +", " ")))
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("NAME DOMAIN STATE GPUS QUEUE PRIORITY APPLICATION AGE"),
                        line -> assertThat(line).startsWith("bert-1 default queued 1-8 research 0 bert "),
                        line -> assertThat(line).startsWith("pretrain-7b default queued 16 product urgent pretrain "));
        assertThat(run("get", "-o", "wide")).isZero();
        assertThat(out.toString()).contains("services:", "tp8,tp4pp2", "jobs:", "queues:", prefix + "queues-");

        assertThat(run("describe", "job", "bert-1")).isZero();
        assertThat(out.toString())
                .contains("job/bert-1 in domain default\n", "topic " + prefix + "training-jobs, partition ")
                .contains("DECLARATION\n  application: bert\n  gpus: 1-8\n", "  memoryPerGpu: 64Gi\n")
                .containsPattern(
                        "STATE\n  bert-1 +queued +0 GPUs, 0 lent; no progress report in the last 15 minutes\n");
        assertThat(run("describe", "queue/product", "--json")).isZero();
        assertThat(json().at("/declaration/spec/weight").asInt()).isEqualTo(2);
        assertThat(json().at("/record/topic").asText()).isEqualTo(prefix + "queues");
        assertThat(json().get("state").get(0).asText()).startsWith("product");

        assertThat(run("delete", "queue", "research")).isEqualTo(1);
        assertThat(err.toString())
                .isEqualTo(
                        "queue/research is named by job/bert-1. Delete them, or apply them with another queue, and run the command again.\n");
        assertThat(run("delete", "service", "chat-8b", "--timeout", "100ms")).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("no scheduler of domain default took the end of service chat-8b within --timeout 100ms.");
        assertThat(run("get", "service", "chat-8b")).isZero();
        assertThat(out.toString()).contains("STATE", "deleting");
        assertThat(run("describe", "service", "chat-8b")).isZero();
        assertThat(out.toString()).startsWith("service/chat-8b in domain default, being deleted");
        assertThat(run("delete", "service", "chat-8b", "--timeout", "100ms"))
                .as("again")
                .isEqualTo(1);
        assertThat(err.toString()).startsWith("no scheduler of domain default took the end of service chat-8b");
        assertThat(run("apply", "-f", EXAMPLES.get(0))).isZero();
        assertThat(out.toString()).contains("service/chat-8b created\n");
        assertThat(run("delete", "job", "bert-1", "--timeout", "100ms")).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("no scheduler of domain default took the end of job bert-1 within --timeout 100ms.");
        assertThat(run("get", "job", "bert-2")).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("there is no job/bert-2; did you mean bert-1?\n");
    }

    @Test
    void theNameOfAJobThatHasJustEndedIsRefused() throws Exception {
        run("apply", "-f", EXAMPLES.get(1));
        run("delete", "job", "bert-1", "--timeout", "100ms");
        forgetJob("bert-1");

        assertThat(run("apply", "-f", EXAMPLES.get(1))).isEqualTo(2);
        assertThat(err.toString())
                .contains("metadata.name is bert-1, but a job of this name ended at ", "Choose another name");
        assertThat(run("apply", "-f", directory.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("must be a file, not a directory");
    }

    @Test
    void anAttributeThatProcessesDoNotHaveIsNamed() {
        assertThat(applyInput("""
                apiVersion: lendstream.io/v1
                kind: TrainingJob
                metadata: {name: odd}
                spec: {application: a, gpus: 1, adopt: {cmd: "*train.py*"}}
                """)).isZero();

        assertThat(err.toString())
                .startsWith("WARNING: nothing is taken over for job/odd by its 'adopt': it names the attribute 'cmd'");
    }

    /** Deletes a declaration, as the command does once a scheduler has taken the end. */
    private void forgetJob(String name) throws Exception {
        var text = new StringSerializer();
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", stack.bootstrapServers()), text, new StringSerializer())) {
            producer.send(new ProducerRecord<>(prefix + "training-jobs", name, null))
                    .get();
        }
    }

    @Test
    void oneWrongObjectStopsAllAndUnknownNamesAreWarnings() throws Exception {
        Path wrong = Files.writeString(directory.resolve("wrong.yaml"), """
                apiVersion: lendstream.io/v1
                kind: TrainingJob
                metadata: {name: a}
                spec: {application: a, gpus: 0}
                ---
                apiVersion: lendstream.io/v1
                kind: Queue
                metadata: {name: a}
                spec: {wieght: 2}
                """);

        assertThat(run("apply", "-f", EXAMPLES.get(0), "-f", wrong.toString())).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith(wrong + ", line 4, document 1 (job/a): spec.gpus is '0', but must be"),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "%s, line 9, document 2 (queue/a): spec.wieght is unknown; did you mean weight?",
                                        wrong),
                        line -> assertThat(line).isEqualTo("2 errors. Nothing was written."));
        assertThat(written()).isZero();

        assertThat(run("apply", "-f", EXAMPLES.get(1))).isZero();
        assertThat(err.toString())
                .isEqualTo(
                        "WARNING: job/bert-1 names queue research, which is not declared in domain default: it has no quota. Declare the queue, or correct the name.\n");
        assertThat(written()).isEqualTo(1);
        assertThat(applyInput(Files.readString(Path.of(EXAMPLES.get(1)))
                        .replace("name: bert-1", "{name: bert-1, domain: b}")))
                .isEqualTo(2);
        assertThat(err.toString()).contains("metadata.domain is b, but job/bert-1 is in domain default");
        assertThat(written()).isEqualTo(1);
    }

    private void applyExamples(String... options) {
        Stream<String> files = EXAMPLES.stream().flatMap(file -> Stream.of("-f", file));
        assertThat(run(Stream.of(Stream.of("apply"), files, Stream.of(options))
                        .flatMap(Function.identity())
                        .toArray(String[]::new)))
                .as(err.toString())
                .isZero();
    }

    private int applyInput(String text, String... options) {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(text.getBytes(UTF_8)));
        try {
            return run(Stream.concat(Stream.of("apply", "-f", "-"), Stream.of(options))
                    .toArray(String[]::new));
        } finally {
            System.setIn(before);
        }
    }

    private JsonNode json() throws JsonProcessingException {
        return new JsonMapper().readTree(out.toString());
    }

    /** How many records the topics have in all. */
    private long written() throws Exception {
        Map<TopicPartition, OffsetSpec> ends = Stream.of("services", "training-jobs", "queues", "domain-settings")
                .flatMap(topic -> Stream.iterate(0, number -> number + 1)
                        .limit(PARTITIONS)
                        .map(number -> new TopicPartition(prefix + topic, number)))
                .collect(Collectors.toMap(Function.identity(), any -> OffsetSpec.latest()));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", stack.bootstrapServers()))) {
            return admin.listOffsets(ends).all().get().values().stream()
                    .mapToLong(ListOffsetsResultInfo::offset)
                    .sum();
        }
    }

    private int run(String... command) {
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
