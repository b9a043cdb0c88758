package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Between an adoption and its answer a stranger may run on the GPUs: no other tenant gets them. */
class UnansweredAdoptionTest {
    private static final String TRAIN = "process/4711-99";
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final AdoptionSelector SELECTOR = new AdoptionSelector(Map.of("command", "*train.py*"));
    private static final Map<String, String> SETTINGS = Map.of(
            "heed-users", "true", "heed-intruders", "true", "quarantine-evidence", "PT10M", "remember-users", "true");

    private Scenario story = story("true");
    private final Map<GpuId, List<String>> users = new TreeMap<>();
    private Tenant claimedBy = BERT;
    private boolean isFound = true;
    private final Set<NodeId> silent = new TreeSet<>();
    private long samples;

    private static Scenario story(String strict) {
        Map<String, String> settings = new TreeMap<>(SETTINGS);
        settings.put("strict-users", strict);
        return new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings)));
    }

    private static GpuId gpu(int number) {
        return new GpuId("n-g" + number);
    }

    private void node(Pool pool, int gpus) {
        story.service("other", 0).node("n", pool, gpus).actuator("actuator", Abilities.USUAL, "n");
        users.put(gpu(0), List.of(TRAIN));
        users.put(gpu(1), List.of(TRAIN));
    }

    private void look() {
        samples++;
        Map<NodeId, List<GpuSample>> byNode = new TreeMap<>();
        for (GpuState unit : story.state().gpus().values()) {
            byNode.computeIfAbsent(unit.nodeId(), any -> new ArrayList<>())
                    .add(GpuSample.of(unit.gpuId()).build().withUsers(users.getOrDefault(unit.gpuId(), List.of())));
        }
        silent.forEach(byNode::remove);
        byNode.forEach((node, all) ->
                story.tell(new GpuTelemetry(node, Scenario.DOMAIN, "boot-1", samples, story.now(), all)));
        FoundTenant train = new FoundTenant(new NodeId("n"), TRAIN, List.of(claimedBy), Optional.empty(), "train.py");
        story.found("actuator", isFound ? List.of(train) : List.of());
    }

    private void watched(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.rate("other", 0).after(ofSeconds(20));
            look();
        }
    }

    /** The last decision; its adoption is decided, and not answered. */
    private Decision adoption() {
        watched(ofMinutes(1));
        assertThat(story.decisions()).hasSize(1);
        assertThat(story.decisions().get(0).action().asAdopt()).isPresent();
        return story.decisions().get(0);
    }

    private void report(Outcome outcome, Decision decision, Tenant tenant) {
        story.tell(story.report(decision.id(), outcome, decision.action().gpus(), Optional.of(tenant)));
    }

    private Decision last() {
        return story.decisions().get(story.decisions().size() - 1);
    }

    private void assertHistoryIsLegal() {
        assertThat(story.verdict().violations())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    /** A job of two GPUs that ends before its adoption is answered, while another one waits for GPUs. */
    private Decision endsUnanswered() {
        node(Pool.TRAINING, 2);
        story.tell(story.jobRecord("bert", 2, false).adopting(SELECTOR));
        Decision adoption = adoption();
        story.job("waits", 2).after(ofSeconds(1)).progress("bert", JobPhase.CANCELLED);
        story.after(ofSeconds(1));
        return adoption;
    }

    @Test
    void aRefusedJobThatHasEndedLeavesItsGpusForeign() {
        Decision adoption = endsUnanswered();
        assertThat(story.count("binding")).isEqualTo(2);

        report(Outcome.FAILED, adoption, BERT);
        assertThat(story.count("foreign")).isEqualTo(2);
        report(Outcome.RELEASED, adoption, BERT);
        watched(ofMinutes(5));

        assertThat(story.count("foreign")).isEqualTo(2);
        assertThat(story.job("bert").gpus()).isZero();
        assertThat(story.decisions())
                .filteredOn(decision -> !decision.action().gpus().isEmpty())
                .hasSize(1);
        assertHistoryIsLegal();
    }

    @Test
    void aJobThatHasEndedAndWasTakenOverIsStopped() {
        Decision adoption = endsUnanswered();

        report(Outcome.BOUND, adoption, BERT);
        assertThat(story.count("releasing")).isEqualTo(2);
        isFound = false;
        users.clear();
        report(Outcome.RELEASED, last(), BERT);

        assertThat(story.owner("n-g0").holder()).isNotEqualTo(Optional.of(BERT));
        assertThat(story.count("foreign")).isZero();
        assertHistoryIsLegal();
    }

    @Test
    void aJobThatHasEndedAndIsNeverAnsweredLeavesItsGpusForeign() {
        endsUnanswered();
        watched(ofMinutes(4));
        assertThat(story.count("binding")).isEqualTo(2);

        watched(ofMinutes(2));

        assertThat(story.count("foreign")).isEqualTo(2);
        assertThat(story.job("bert").gpus()).isZero();
        assertHistoryIsLegal();
    }

    /** When the time for the answer is over, no unit of the job is free for a moment. */
    @Test
    void aJobThatIsNeverAnsweredStaysForeignWithAllItsGpus() {
        node(Pool.TRAINING, 2);
        story.tell(story.jobRecord("bert", 2, false).adopting(SELECTOR));
        adoption();
        isFound = false;
        story.job("waits", 2);

        watched(ofMinutes(6));

        assertThat(story.count("foreign")).isEqualTo(2);
        assertThat(story.decisions()).hasSize(1);
        assertHistoryIsLegal();
    }

    /** A replay of a log of an older version decides as that version did. */
    @Test
    void beforeThisRuleAJobThatEndedWasReleasedAtOnce() {
        story = story("false");
        endsUnanswered();

        assertThat(story.count("releasing")).isEqualTo(2);
    }

    /** A replica of two GPUs that loses one of them to an error before its adoption is answered. */
    private Decision losesAGpu() {
        claimedBy = CHAT;
        node(Pool.INFERENCE, 3);
        ReplicaShape shape = ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(30));
        story.tell(story.serviceRecord("chat", 1).adopting(SELECTOR).inShapes(List.of(shape)));
        Decision adoption = adoption();
        samples++;
        GpuSample broken = Scenario.sample(gpu(0), Optional.of(79)).withUsers(List.of(TRAIN));
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), List.of(broken)));
        assertThat(story.owner("n-g0").label()).isEqualTo("quarantined");
        return adoption;
    }

    @Test
    void aRefusedReplicaThatHasLostAGpuLeavesTheOtherForeign() {
        Decision adoption = losesAGpu();
        assertThat(story.owner("n-g1").label()).isEqualTo("binding");

        report(Outcome.FAILED, adoption, CHAT);
        assertThat(story.owner("n-g1").label()).isEqualTo("foreign");
        report(Outcome.RELEASED, adoption, CHAT);
        story.rate("other", 40).after(ofSeconds(1));

        assertThat(story.owner("n-g1").label()).isEqualTo("foreign");
        assertThat(story.decisions()).noneMatch(decision -> decision.action() instanceof Action.Idle);
    }

    @Test
    void whatIsLeftOfAReplicaIsStoppedOnceItIsTakenOver() {
        Decision adoption = losesAGpu();

        report(Outcome.BOUND, adoption, CHAT);

        assertThat(last().action()).isInstanceOf(Action.Idle.class);
        assertThat(last().action().gpus()).containsExactly(gpu(1));
        assertThat(story.owner("n-g1").label()).isEqualTo("releasing");
    }

    /** A replica that an actuator takes over and reports only after its adoption was undone. */
    private Decision answeredLate(String... then) {
        claimedBy = CHAT;
        node(Pool.INFERENCE, 2);
        users.remove(gpu(1));
        story.tell(story.serviceRecord("chat", 1).adopting(SELECTOR));
        Decision adoption = adoption();
        isFound = false;
        users.put(gpu(0), List.of(then));
        watched(ofMinutes(6));
        assertThat(story.owner("n-g0").label()).isEqualTo("foreign");
        report(Outcome.HOLDS, adoption, CHAT);
        return adoption;
    }

    private long adoptions() {
        return story.decisions().stream()
                .filter(decision -> decision.action().asAdopt().isPresent())
                .count();
    }

    @Test
    void aLateAnswerTakesOverWhatAgentsShowAlone() {
        answeredLate(TRAIN);

        Decision second = last();
        assertThat(second.action().asAdopt().orElseThrow().found())
                .containsExactly(new Adopted(TRAIN, List.of(gpu(0))));
        assertThat(second.reason().text()).endsWith("process/4711-99 on n (actuator test has it already)");
        report(Outcome.BOUND, second, CHAT);
        assertThat(story.owner("n-g0").label()).isEqualTo("serving");
        assertHistoryIsLegal();
    }

    @Test
    void aLateAnswerDoesNotTakeOverAGpuThatAStrangerUsesToo() {
        Decision adoption = answeredLate(TRAIN, "process/9-9");
        assertThat(adoptions()).isEqualTo(1);

        users.put(gpu(0), List.of(TRAIN));
        watched(ofMinutes(1));
        report(Outcome.HOLDS, adoption, CHAT);
        assertThat(adoptions()).as("the stranger has gone").isEqualTo(2);
    }

    @Test
    void aLateAnswerTakesNothingOverWhileTheAgentIsSilent() {
        story.node("m", Pool.TRAINING, 1).node("k", Pool.TRAINING, 1);
        Decision adoption = answeredLate(TRAIN, "process/9-9");
        users.put(gpu(0), List.of(TRAIN));
        watched(ofMinutes(1));
        silent.add(new NodeId("n"));
        watched(ofMinutes(2));

        report(Outcome.HOLDS, adoption, CHAT);

        assertThat(adoptions()).isEqualTo(1);
    }
}
