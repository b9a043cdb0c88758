package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What runs already on a MIG instance, or on several nodes, is taken over too. */
class AdoptedPartsTest {
    private static final String HERE = "process/4711-99";
    private static final String THERE = "process/5-7";
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final AdoptionSelector SELECTOR = new AdoptionSelector(Map.of("command", "*train.py*"));
    private static final long GIB = 1L << 30;
    private static final Map<String, String> SETTINGS = Map.of(
            "heed-users", "true", "heed-intruders", "true", "quarantine-evidence", "PT10M", "remember-users", "true");

    private Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(SETTINGS)));
    private final Map<GpuId, List<String>> users = new HashMap<>();
    /** What each actuator finds. */
    private final Map<String, List<FoundTenant>> found = new TreeMap<>();

    private long samples;

    private static GpuId gpu(String name) {
        return new GpuId(name);
    }

    private static FoundTenant process(String node, String user, Tenant tenant, Optional<Integer> workers) {
        return new FoundTenant(new NodeId(node), user, List.of(tenant), workers, "train.py");
    }

    private void look() {
        samples++;
        Map<NodeId, List<GpuSample>> byNode = new TreeMap<>();
        for (GpuState unit : story.state().gpus().values()) {
            byNode.computeIfAbsent(unit.nodeId(), any -> new ArrayList<>())
                    .add(GpuSample.of(unit.gpuId()).build().withUsers(users.getOrDefault(unit.gpuId(), List.of())));
        }
        byNode.forEach((node, all) ->
                story.tell(new GpuTelemetry(node, Scenario.DOMAIN, "boot-1", samples, story.now(), all)));
        found.forEach((actuator, all) -> story.found(actuator, all));
    }

    private void watched(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20));
            look();
        }
    }

    private List<Decision> adoptions() {
        return story.decisions().stream()
                .filter(decision -> decision.action().asAdopt().isPresent())
                .toList();
    }

    private Action.Adopt adopted() {
        assertThat(adoptions()).hasSize(1);
        return adoptions().get(0).action().asAdopt().orElseThrow();
    }

    private void report(String actuator, Outcome outcome, Tenant tenant, String... gpus) {
        story.tell(new ActuationReport(
                Scenario.DOMAIN,
                adoptions().get(adoptions().size() - 1).id(),
                actuator,
                story.now(),
                outcome,
                List.of(gpus).stream().map(AdoptedPartsTest::gpu).toList(),
                Optional.of(tenant),
                Timings.NONE,
                ""));
    }

    private List<String> obstacles() {
        return new AdoptionClaims(story.state().entities(), story.now(), false)
                .all().stream().flatMap(claim -> claim.obstacle().stream()).toList();
    }

    private String label(String gpu) {
        return story.owner(gpu).label();
    }

    private void assertHistoryIsLegal() {
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    /** A node with a GPU in two instances and a whole one; something runs on the first instance. */
    private List<String> cut(Pool pool, Tenant tenant) {
        story.migNode("m", pool, "3g.40gb@0 3g.40gb@4").actuator("a", Abilities.USUAL.withMig(true), "m");
        List<String> instances = story.state().gpus().stream()
                .map(unit -> unit.gpuId().value())
                .sorted()
                .toList();
        assertThat(instances).hasSize(2);
        users.put(gpu(instances.get(0)), List.of(HERE));
        found.put("a", new ArrayList<>(List.of(process("m", HERE, tenant, Optional.empty()))));
        return instances;
    }

    @Test
    void aReplicaOnAMigInstanceIsTakenOverAsItIs() {
        List<String> instances = cut(Pool.INFERENCE, CHAT);
        watched(ofMinutes(1));
        assertThat(label(instances.get(0))).isEqualTo("foreign");
        assertThat(label(instances.get(1))).isEqualTo("free");
        assertThat(obstacles()).containsExactly("the service is not declared any more");

        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR));
        watched(ofMinutes(1));
        assertThat(obstacles()).containsExactly("it uses a MIG instance, and the service declares no sliceMemory");
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR).onSlicesOf(60 * GIB));
        watched(ofMinutes(1));
        assertThat(obstacles().get(0))
                .startsWith("it uses a MIG instance of 3g.40gb, and the service declares a sliceM");
        story.tell(story.serviceRecord("chat", 1).adopting(SELECTOR).onSlicesOf(20 * GIB));
        watched(ofMinutes(1));

        assertThat(adopted().found()).isEqualTo(List.of(new Adopted(HERE, List.of(gpu(instances.get(0))))));
        report("a", Outcome.BOUND, CHAT, instances.get(0));
        found.get("a").clear();
        watched(ofMinutes(5));
        assertThat(label(instances.get(0))).isEqualTo("serving");
        assertThat(story.state()
                        .gpus()
                        .require(gpu(instances.get(0)))
                        .instance()
                        .map(MigInstance::profile))
                .contains("3g.40gb");
        assertThat(story.decisions()).as("no restart, no other replica").hasSize(1);
        assertHistoryIsLegal();
    }

    @Test
    void aJobOnAMigInstanceIsTakenOverAsItIs() {
        List<String> instances = cut(Pool.TRAINING, BERT);
        story.tell(story.jobRecord("bert", 1, false).adopting(SELECTOR));
        watched(ofMinutes(1));
        assertThat(obstacles()).containsExactly("it uses a MIG instance, and the job declares no sliceMemory");

        story.tell(story.jobRecord("bert", 1, false).adopting(SELECTOR).onSlicesOf(20 * GIB));
        watched(ofMinutes(1));
        report("a", Outcome.BOUND, BERT, instances.get(0));
        report("a", Outcome.APPLIED, BERT, instances.get(0));
        found.get("a").clear();
        story.after(ofSeconds(1)).progress("bert", JobPhase.RUNNING);
        watched(ofMinutes(5));

        assertThat(label(instances.get(0))).isEqualTo("training");
        assertThat(story.job("bert").isOnSlice()).isTrue();
        assertThat(story.decisions()).as("no restart").hasSize(1);
        assertHistoryIsLegal();
    }

    @Test
    void onTwoInstancesOrInAShapeNothingIsTakenOver() {
        List<String> instances = cut(Pool.INFERENCE, CHAT);
        story.tell(story.serviceRecord("chat", 0)
                .adopting(SELECTOR)
                .inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(30)))));
        watched(ofMinutes(1));
        assertThat(obstacles()).containsExactly("it uses a MIG instance, and replicas in shapes have whole GPUs");

        users.put(gpu(instances.get(1)), List.of(HERE));
        story.tell(story.serviceRecord("other", 0).adopting(SELECTOR).onSlicesOf(20 * GIB));
        found.put("a", List.of(process("m", HERE, new Tenant.Service(new ServiceId("other")), Optional.empty())));
        watched(ofMinutes(1));
        assertThat(obstacles()).containsExactly("it uses 2 units, among them MIG instances, and may have one");
        assertThat(adoptions()).isEmpty();
    }

    /** A job of four workers on two nodes, each with an actuator of its own. */
    private void spreads() {
        spreads(Pool.TRAINING);
    }

    private void spreads(Pool second) {
        for (String node : List.of("n", "m")) {
            story.node(node, node.equals("m") ? second : Pool.TRAINING, 2)
                    .actuator("of-" + node, Abilities.USUAL, node);
            users.put(gpu(node + "-g0"), List.of(node.equals("n") ? HERE : THERE));
            users.put(gpu(node + "-g1"), List.of(node.equals("n") ? HERE : THERE));
        }
        found.put("of-n", new ArrayList<>(List.of(process("n", HERE, BERT, Optional.of(4)))));
        found.put("of-m", new ArrayList<>(List.of(process("m", THERE, BERT, Optional.of(4)))));
        story.tell(story.jobRecord("bert", 4, false).adopting(SELECTOR));
    }

    private void takenOver(String node) {
        report("of-" + node, Outcome.BOUND, BERT, node + "-g0", node + "-g1");
        report("of-" + node, Outcome.APPLIED, BERT, node + "-g0", node + "-g1");
        found.get("of-" + node).clear();
    }

    @Test
    void aJobOnTwoNodesIsTakenOverByBothActuators() {
        spreads();
        watched(ofMinutes(1));

        assertThat(adopted().found())
                .containsExactlyInAnyOrder(
                        new Adopted(HERE, List.of(gpu("n-g0"), gpu("n-g1"))),
                        new Adopted(THERE, List.of(gpu("m-g0"), gpu("m-g1"))));
        assertThat(adopted().allocation().orElseThrow().gpus()).hasSize(4);
        assertThat(story.job("bert").change().awaited()).containsExactly("of-m", "of-n");
        takenOver("n");
        assertThat(label("m-g0")).isEqualTo("binding");
        assertThat(story.job("bert").changing()).isPresent();
        takenOver("m");
        assertThat(story.job("bert").changing()).isEmpty();
        story.after(ofSeconds(1)).progress("bert", JobPhase.RUNNING);
        watched(ofMinutes(5));

        assertThat(story.count("training")).isEqualTo(4);
        assertThat(story.decisions()).as("no restart").hasSize(1);
        assertHistoryIsLegal();
    }

    @Test
    void onTwoNodesOfOneActuatorItIsTakenOverToo() {
        for (String node : List.of("n", "m")) {
            story.node(node, Pool.TRAINING, 1);
            users.put(gpu(node + "-g0"), List.of(HERE));
        }
        story.actuator("a", Abilities.USUAL, "n", "m");
        found.put(
                "a",
                new ArrayList<>(
                        List.of(process("n", HERE, BERT, Optional.of(2)), process("m", HERE, BERT, Optional.of(2)))));
        story.tell(story.jobRecord("bert", 2, false).adopting(SELECTOR));
        watched(ofMinutes(1));

        assertThat(adopted().found()).isEqualTo(List.of(new Adopted(HERE, List.of(gpu("m-g0"), gpu("n-g0")))));
        report("a", Outcome.BOUND, BERT, "n-g0", "m-g0");
        report("a", Outcome.APPLIED, BERT, "n-g0", "m-g0");
        assertThat(story.count("training")).isEqualTo(2);
        assertHistoryIsLegal();
    }

    @Test
    void aJobOfWhichAPartIsNotClearStaysForeign() {
        spreads();
        users.put(gpu("m-g1"), List.of());
        watched(ofMinutes(3));
        assertThat(obstacles())
                .as("a worker is not seen")
                .containsOnly("it has 4 workers, and agents report it on 3 GPUs");

        users.put(gpu("m-g1"), List.of(THERE, "slurm/7"));
        watched(ofMinutes(1));
        assertThat(obstacles())
                .containsExactlyInAnyOrder(
                        "its part on m stays: m-g1 is also used by slurm/7", "m-g1 is also used by slurm/7");

        users.put(gpu("m-g1"), List.of(THERE));
        story.actuator("of-m", Abilities.USUAL.withSpansNodes(false), "m");
        watched(ofMinutes(1));
        assertThat(obstacles())
                .containsOnly(
                        "it runs on 2 nodes, and the actuator of m runs no job on several nodes; with actuator.spans-nodes=true it does");
        found.put("of-m", List.of());
        watched(ofMinutes(1));
        assertThat(obstacles()).containsExactly("it has 4 workers, and agents report it on 2 GPUs");
        assertThat(adoptions()).isEmpty();
        assertThat(story.count("foreign")).isEqualTo(4);
    }

    @Test
    void ifOneActuatorCannotTakeItsPartOverAllOfItStaysForeign() {
        spreads();
        watched(ofMinutes(1));
        takenOver("n");
        watched(ofSeconds(40));
        report("of-m", Outcome.FAILED, BERT, "m-g0", "m-g1");
        assertThat(story.count("foreign")).isEqualTo(4);
        assertThat(story.job("bert").gpus()).isZero();
        assertHistoryIsLegal();

        watched(ofMinutes(1));
        report("of-n", Outcome.HOLDS, BERT, "n-g0", "n-g1");
        watched(ofMinutes(15));

        assertThat(adoptions()).as("half of it is not the job").hasSize(1);
        assertThat(story.count("foreign")).isEqualTo(4);
        assertThat(obstacles()).containsExactly("it has 4 workers, and agents report it on 2 GPUs");
        assertHistoryIsLegal();
    }

    /** The other actuator took its part over too, and does not find it any more; only its report came too late. */
    @Test
    void afterAPartWasLateHalfOfItIsNotTheJob() {
        spreads();
        watched(ofMinutes(1));
        takenOver("n");
        found.get("of-m").clear();
        watched(ofMinutes(7));
        assertThat(story.count("foreign")).isEqualTo(4);

        for (int minute = 0; minute < 15; minute++) {
            report("of-n", Outcome.HOLDS, BERT, "n-g0", "n-g1");
            watched(ofMinutes(1));
        }

        assertThat(adoptions()).hasSize(1);
        assertThat(story.count("foreign")).isEqualTo(4);
        assertHistoryIsLegal();
    }

    /** A loan would end at the actuator that has taken its part over, also if the other one cannot. */
    @Test
    void aJobWithAPartOnAnInferenceNodeStaysForeign() {
        spreads(Pool.INFERENCE);
        watched(ofMinutes(5));

        assertThat(obstacles())
                .containsOnly(
                        "its part on m is on an inference node, and jobs on several nodes are taken over on training nodes only");
        assertThat(adoptions()).isEmpty();
    }

    @Test
    void aLogOfAnOlderVersionKeepsToOneNode() {
        Map<String, String> old = new HashMap<>(SETTINGS);
        old.remove("remember-users");
        story = new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(old)));
        spreads();
        watched(ofMinutes(5));
        assertThat(adoptions()).isEmpty();
    }
}
