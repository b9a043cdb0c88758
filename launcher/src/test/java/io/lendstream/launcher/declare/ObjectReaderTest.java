package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObjectReaderTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private static final String SERVICE = """
            apiVersion: lendstream.io/v1
            kind: Service
            metadata: {name: chat}
            spec:
              slo: 4s
              replicaCapacityPerSecond: 1.25
              warmUp: 20s
            """;

    private static final String JOB = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata: {name: bert-1, domain: east}
            spec:
              application: bert
              gpus: 4
            """;

    private static final String ELASTIC = JOB.replace("gpus: 4", "gpus: 1-8") + """
              batch: {initial: 12, localMax: 12}
              profile:
                throughput: {alphaC: 1, betaC: 0, alphaN: 0, betaN: 0, alphaR: 0, betaR: 0, gamma: 1}
            """;

    private static final String QUEUE = """
            apiVersion: lendstream.io/v1
            kind: Queue
            metadata: {name: team-a}
            spec:
              cohort: research
              quotas:
                - nominalQuota: 8
            """;

    @Test
    void aServiceNeedsOnlyWhatCannotBeGuessed() {
        InferenceService service = (InferenceService) record(SERVICE);

        assertThat(service.service().value()).isEqualTo("chat");
        assertThat(service.domain().value()).isEqualTo("default");
        assertThat(service.at()).isEqualTo(NOW);
        assertThat(service.slo()).isEqualTo(Duration.ofSeconds(4));
        assertThat(service.replicaCapacityPerSecond()).isEqualTo(1.25);
        assertThat(service.floorReplicas()).isZero();
        assertThat(service.hasGroups()).isFalse();
    }

    @Test
    void aJobWithOneNumberOfGpusNeedsNoProfile() {
        TrainingJob job = (TrainingJob) record(JOB);

        assertThat(job.domain().value()).isEqualTo("east");
        assertThat(job.scaling()).isEqualTo(new TrainingJob.Scaling(4, 4, 4, false));
        assertThat(job.traits()).isEqualTo(TrainingJob.Traits.ofFixedSize(4));
    }

    @Test
    void aRangeOfGpusMakesAJobElastic() {
        TrainingJob job = (TrainingJob) record(ELASTIC);

        assertThat(job.scaling()).isEqualTo(new TrainingJob.Scaling(1, 1, 8, true));
        assertThat(job.traits().batch().max()).isEqualTo(12);
        assertThat(job.traits().costs().first()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void valuesHaveTheirUnitsAndWords() {
        TrainingJob job = (TrainingJob) record(JOB + """
              deadline: 2026-04-01T00:00:00+02:00
              deadlineKind: hard
              memory: 40Gi
              memoryPerGpu: 512MiB
              cpuPerGpu: 500m
              topology: {level: nvlink-domain}
            """);
        ClusterQueue queue = (ClusterQueue) record(QUEUE + """
              withinClusterQueue: LowerPriority
              priorityClasses: {urgent: 10}
            """);

        assertThat(job.precedence().deadline()).contains(Instant.parse("2026-03-31T22:00:00Z"));
        assertThat(job.precedence().deadlineKind()).isEqualTo(DeadlineKind.HARD);
        assertThat(job.kindNeeds().memoryBytes()).contains(40L << 30);
        assertThat(job.hostNeed().memoryBytesPerGpu()).contains(512L << 20);
        assertThat(job.hostNeed().cpuMillisPerGpu()).contains(500L);
        assertThat(job.shape().topology().orElseThrow().level()).isEqualTo(TopologyLevel.NVLINK_DOMAIN);
        assertThat(queue.withinClusterQueue()).contains(Preemption.LOWER_PRIORITY);
        assertThat(queue.priorityClasses()).containsEntry("urgent", 10);
    }

    @Test
    void jsonIsReadTooAlsoWithTabsAndInLists() {
        String list = """
                {"apiVersion": "lendstream.io/v1", "kind": "List", "items": [
                \t{"apiVersion": "lendstream.io/v1", "kind": "Queue", "metadata": {"name": "a"}, "spec": {"cohort": null}},
                \t{"apiVersion": "lendstream.io/v1", "kind": "Queue", "metadata": {"name": "b"}, "spec": {}}]}
                """;

        assertThat(read("queues.json", list).objects())
                .extracting(DeclaredObject::shown)
                .containsExactly("queue/a", "queue/b");
        assertThat(read("standard input", list).objects()).hasSize(2);
    }

    @Test
    void emptyDocumentsAreLeftOutAndErrorsOfAllDocumentsAreShown() {
        ObjectReader reader = read(
                "all.yaml",
                "---\n# nothing\n---\n" + SERVICE + "---\n" + JOB.replace("gpus: 4", "gpus: many") + "---\n"
                        + QUEUE.replace("8", "-8"));

        assertThat(reader.objects()).extracting(DeclaredObject::shown).containsExactly("service/chat");
        assertThat(reader.problems())
                .containsExactly(
                        "all.yaml, line 17, document 3 (job/bert-1): spec.gpus is 'many', but must be a number of GPUs such as 4, or a range such as 1-8, from 1 to 1000000. Change it.",
                        "all.yaml, line 25, document 4 (queue/team-a): spec.quotas[0].nominalQuota is '-8', but must be a number of GPUs of at least 0. Change it.");
    }

    /** What does not depend on another error is found with it, in the order of the file's fields. */
    @Test
    void allErrorsOfAnObjectAreShown() {
        ObjectReader reader =
                read("all.yaml", """
                apiVersion: lendstream.io/v2
                kind: Service
                owner: {}
                metadata: {name: "a b", owner: me}
                spec:
                  slo: soon
                  replicaCapacityPerSecond: 1.25
                  flor: 1
                  colour: blue
                  roleFloors:
                    - {role: decode, replicas: few}
                    - {replicas: 1}
                """ + "---\n" + SERVICE + "---\n7\n---\n" + JOB.replace("gpus: 4", "gpus: many"));

        assertThat(reader.objects()).extracting(DeclaredObject::shown).containsExactly("service/chat");
        assertThat(reader.problems())
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).startsWith("all.yaml, line 22, document 3 is '7'"),
                        line -> assertThat(line)
                                .isEqualTo(
                                        "all.yaml, line 3, document 1: owner is unknown; known fields here: apiVersion, kind, metadata, spec."),
                        line -> assertThat(line).contains("apiVersion is 'lendstream.io/v2'"),
                        line -> assertThat(line).contains("metadata.owner is unknown"),
                        line -> assertThat(line).contains("metadata.name is 'a b'"),
                        line -> assertThat(line).contains("spec.flor is unknown; did you mean floor or slo?"),
                        line -> assertThat(line)
                                .contains("spec.colour is unknown; known fields here: slo, replicaCapacityPerSecond,"),
                        line -> assertThat(line).contains("spec.slo is 'soon'"),
                        line -> assertThat(line).contains("spec.warmUp is missing"),
                        line -> assertThat(line).contains("spec.roleFloors[0].replicas is 'few'"),
                        line -> assertThat(line).contains("spec.roleFloors[1].role is missing"),
                        line -> assertThat(line).contains("(job/bert-1): spec.gpus is 'many'"));
    }

    /** What get shows can be applied, but for what was being deleted. */
    @Test
    void theStatusIsLeftOut() {
        assertThat(read("all.yaml", SERVICE + "status: {state: 1 serving}\n").problems())
                .isEmpty();
        assertThat(read("all.yaml", SERVICE + "status: {state: deleting}\n").problems())
                .containsExactly(
                        "all.yaml, line 8, document 1: status.state is deleting: the object was being deleted when it was shown. Leave it out, or remove status to declare it again.");
        InferenceService service = (InferenceService) record(SERVICE);
        assertThat(ObjectText.yaml(DeclaredKinds.SERVICE.write(service, Optional.of("no replica"))))
                .containsSubsequence("status:", "  state: no replica");
    }

    @Test
    void theTableHasStatesWhereTheyAreKnown() {
        InferenceService service = (InferenceService) record(SERVICE);
        List<Written<InferenceService>> all = List.of(new Written<>(service, new Origin("services", 0, 7), NOW));

        assertThat(ObjectTable.lines(DeclaredKinds.SERVICE, all, List.of(Optional.of("deleting")), false, NOW))
                .element(1)
                .asString()
                .matches("chat +default +deleting +4s .*");
        assertThat(ObjectTable.lines(DeclaredKinds.SERVICE, all, List.of(Optional.empty()), false, NOW))
                .first()
                .asString()
                .doesNotContain("STATE");
    }

    @Test
    void anObjectIsDeclaredOnce() {
        assertThat(read("all.yaml", SERVICE + "---\n" + SERVICE).problems())
                .containsExactly(
                        "all.yaml, line 12, document 2 (service/chat): service/chat is declared twice, first in all.yaml, line 4; leave one out.");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            slo: 4s                        | slo: soon                       | spec.slo is 'soon', but must be a length of time such as 250ms, 30s, 5m or 1h, at most 366d. Change it.
            slo: 4s                        | slo: 4                          | spec.slo is '4', but must be a length of time
            slo: 4s                        | slo: [4s]                       | spec.slo is a list, but must be a length of time
            slo: 4s                        | queue: a                        | spec.slo is missing, but must be a length of time such as 250ms, 30s, 5m or 1h, at most 366d. Add it.
            warmUp: 20s                    | warmUp: 25h                     | spec.warmUp is '25h', but must be a length of time such as 250ms, 30s, 5m or 1h, at most 1d. Change it.
            warmUp: 20s                    | warmup: 20s                     | spec.warmup is unknown; did you mean warmUp?
            replicaCapacityPerSecond: 1.25 | replicaCapacityPerSecond: 0     | spec.replicaCapacityPerSecond is '0', but must be a number above 0. Change it.
            slo: 4s                        | 'slo: 4s\\n  floor: -1'            | spec.floor is '-1', but must be a whole number from 0 to 1000000. Change it, or leave it out for 0.
            slo: 4s                        | 'slo: 4s\\n  floor: 1.5'           | spec.floor is '1.5', but must be a whole number
            slo: 4s                        | 'slo: 4s\\n  sliceMemory: 40GB'    | spec.sliceMemory is '40GB', but must be an amount of memory such as 512Mi or 40Gi. Change it, or leave it out.
            slo: 4s                        | 'slo: 4s\\n  queue: a b'           | spec.queue is 'a b', but must be a name
            slo: 4s                        | 'slo: 4s\\n  shapes: [{cold: 9s}]' | spec.shapes[0].name is missing, but must be a name
            slo: 4s                        | 'slo: 4s\\n  shapes: [{name: a, cold: 9s, nodes: 2, within: node}]' | has several nodes within one node
            slo: 4s                        | 'slo: 4s\\n  shapes: [{name: a, cold: 9s, role: both}]' | spec.shapes[0].role is 'both', but must be all or prefill or decode. Change it, or leave it out for all.
            name: chat                     | name: ../chat                   | metadata.name is '../chat', but must be a name
            name: chat                     | 'name: chat, namespace: a'      | metadata.namespace is unknown;
            name: chat                     | domain: east                    | metadata.name is missing
            kind: Service                  | kind: service                   | kind is 'service', but must be Service or TrainingJob or Queue or DomainSettings. Did you mean Service?
            kind: Service                  | kind: Pod                       | kind is 'Pod', but must be Service or TrainingJob or Queue or DomainSettings. Change it.
            apiVersion: lendstream.io/v1   | apiVersion: v1                  | apiVersion is 'v1', but must be lendstream.io/v1. Change it.
            """)
    void aWrongServiceIsRefusedWithTheWayOut(String right, String wrong, String problem) {
        String text = SERVICE.replace(right, wrong.replace("\\n", "\n"));

        assertThat(read("chat.yaml", text).problems())
                .singleElement()
                .satisfies(
                        line -> assertThat(line).startsWith("chat.yaml, line ").contains(", document 1", problem));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gpus: 4           | gpus: 1-8                      | batch is missing, but must be declared for a job whose number of GPUs may change (gpus is 1-8); add it, or give the job one number of GPUs.
            gpus: 4           | gpus: 8-1                      | spec.gpus is '8-1', but must be a number of GPUs such as 4
            gpus: 4           | 'gpus: 4\\n  sizes: [8, 16]'   | can never start: its shape
            gpus: 4           | 'gpus: 4\\n  deadline: friday' | spec.deadline is 'friday', but must be a time such as 2026-03-01T18:00:00Z.
            gpus: 4           | 'gpus: 4\\n  cpuPerGpu: 1.23456' | spec.cpuPerGpu is '1.23456', but must be a number of cores
            gpus: 4           | 'gpus: 4\\n  gang: yes'        | spec.gang is 'yes', but must be true or false. Change it, or leave it out for false.
            application: bert | application: ''                | spec.application is '', but must be a text that is not empty. Change it.
            """)
    void aWrongJobIsRefusedWithTheWayOut(String right, String wrong, String problem) {
        String text = JOB.replace(right, wrong.replace("\\n", "\n"));

        assertThat(read("job.yaml", text).problems())
                .singleElement()
                .satisfies(
                        line -> assertThat(line).startsWith("job.yaml, line ").contains("(job/bert-1)", problem));
    }

    @Test
    void aQueueKeepsTheRulesOfItsRecord() {
        assertThat(read("q.yaml", QUEUE + "    - nominalQuota: 4\n").problems())
                .singleElement()
                .satisfies(line ->
                        assertThat(line).contains("(queue/team-a): spec: queue team-a has two quotas for other kinds"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            'kind: [a'                        | is not YAML:
            'kind: a\\nkind: b'               | is not YAML: Duplicate field 'kind'
            'just text'                       | document 1 is 'just text', but must have the fields apiVersion, kind, metadata, spec. Add them.
            'a: &x 1\\nb: *x'                 | has the alias '*x', but aliases are not read. Write the value.
            ''                                | has no object; add a document with apiVersion, kind, metadata, spec.
            'kind: List'                      | kind is List, but there is no list items. Add it.
            """)
    void aFileThatIsNoDeclarationIsRefused(String text, String problem) {
        assertThat(read("file.yaml", text.replace("\\n", "\n")).problems())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("file.yaml").contains(problem));
    }

    private static ObjectReader read(String file, String text) {
        ObjectReader reader = new ObjectReader();
        reader.read(file, text);
        return reader;
    }

    private static Event record(String text) {
        ObjectReader reader = read("object.yaml", text);
        assertThat(reader.problems()).isEmpty();
        List<DeclaredObject<?>> objects = reader.objects();
        return objects.get(0).record(NOW, Optional.empty());
    }
}
