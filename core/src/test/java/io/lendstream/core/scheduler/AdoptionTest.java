package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.ControlCommand;
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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdoptionTest {
    private static final String TRAIN = "process/4711-99";
    private static final String OTHER = "process/4712-99";
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final AdoptionSelector SELECTOR = new AdoptionSelector(Map.of("command", "*train.py*"));
    private static final SchedulerSettings HEEDED = SchedulerSettings.of(Map.of("heed-users", "true"));

    private final Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), HEEDED));
    private final Map<GpuId, List<String>> users = new HashMap<>();
    private final List<FoundTenant> found = new ArrayList<>();
    private long samples;

    private static GpuId gpu(int index) {
        return new GpuId("n-g" + index);
    }

    private FoundTenant process(String user, Tenant... claimedBy) {
        return new FoundTenant(new NodeId("n"), user, List.of(claimedBy), Optional.empty(), "train.py");
    }

    private void look() {
        samples++;
        List<GpuSample> all = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .map(gpu -> GpuSample.of(gpu).build().withUsers(users.getOrDefault(gpu, List.of())))
                .toList();
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all));
        story.found("actuator", found);
    }

    /** Lets time pass, with samples and reports every 20 s. */
    private void watched(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20));
            look();
        }
    }

    private List<Action.Adopt> adoptions() {
        return story.decisions().stream()
                .flatMap(decision -> decision.action().asAdopt().stream())
                .toList();
    }

    private Decision lastAdoption() {
        return story.decisions().stream()
                .filter(decision -> decision.action().asAdopt().isPresent())
                .reduce((one, next) -> next)
                .orElseThrow();
    }

    private void report(Outcome outcome, Decision decision, Tenant tenant) {
        story.tell(new ActuationReport(
                Scenario.DOMAIN,
                decision.id(),
                "actuator",
                story.now(),
                outcome,
                decision.action().gpus(),
                Optional.of(tenant),
                Timings.NONE,
                "for the test"));
    }

    private String obstacle() {
        return new AdoptionClaims(story.state().entities(), story.now(), false)
                .all().stream()
                        .flatMap(claim -> claim.obstacle().stream())
                        .findFirst()
                        .orElse("");
    }

    private String label(int index) {
        return story.state().gpus().require(gpu(index)).owner().label();
    }

    private void node(Pool pool, int gpus) {
        story.node("n", pool, gpus).actuator("actuator", Abilities.USUAL, "n");
    }

    private void elastic(int most) {
        story.tell(story.jobRecord("bert", most, true).adopting(SELECTOR));
    }

    private void rigid(int gpus) {
        story.tell(story.jobRecord("bert", gpus, false).adopting(SELECTOR));
    }

    private void runsOn(String user, int... gpus) {
        for (int index : gpus) {
            users.put(gpu(index), List.of(user));
        }
    }

    @Test
    void aJobThatRunsAlreadyIsTakenOverAsItIs() {
        node(Pool.TRAINING, 3);
        runsOn(TRAIN, 0, 1);
        found.add(process(TRAIN, BERT));
        elastic(3);

        watched(ofMinutes(1));

        Decision decision = lastAdoption();
        Action.Adopt adopt = decision.action().asAdopt().orElseThrow();
        assertThat(adopt.tenant()).isEqualTo(BERT);
        assertThat(adopt.found()).isEqualTo(List.of(new Adopted(TRAIN, List.of(gpu(0), gpu(1)))));
        assertThat(adopt.allocation().orElseThrow().gpus()).isEqualTo(List.of(gpu(0), gpu(1)));
        assertThat(decision.reason().text())
                .isEqualTo(
                        "job bert takes over what runs already on 2 GPUs and matches its selector: process/4711-99 on n (train.py)");
        assertThat(label(0)).isEqualTo("binding");

        assertThat(obstacle()).as("what is taken over stays no foreign thing").isEmpty();
        report(Outcome.BOUND, decision, BERT);
        report(Outcome.APPLIED, decision, BERT);
        assertThat(label(0)).isEqualTo("training");
        assertThat(obstacle()).as("until it is looked for again").isEmpty();
        found.clear();
        story.after(ofSeconds(1)).progress("bert", JobPhase.RUNNING).settled();
        for (int i = 0; i < 12; i++) {
            story.after(ofSeconds(20)).settled();
            look();
            story.settled();
        }

        assertThat(adoptions()).hasSize(1);
        assertThat(story.decisions())
                .as("it grows to the free GPU, as any job does")
                .filteredOn(each -> each.action() instanceof Action.Resize)
                .isNotEmpty();
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    @Test
    void aJobThatClaimsIsNotStartedAnew() {
        node(Pool.TRAINING, 2);
        elastic(2);
        watched(ofMinutes(20));

        assertThat(story.state().jobs().require(new JobId("bert")).gpus()).isZero();
        assertThat(story.count("free")).isEqualTo(2);

        story.job("bert", 2);
        watched(ofMinutes(2));
        assertThat(story.decisions())
                .filteredOn(each -> each.action() instanceof Action.Resize)
                .isNotEmpty();
    }

    @Test
    void inAdvisoryModeItIsTakenOverToo() {
        story.control(ControlCommand.Kind.ADVISORY_ON);
        node(Pool.TRAINING, 2);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        elastic(2);
        watched(ofMinutes(1));

        Decision decision = lastAdoption();
        assertThat(decision.advisory()).isFalse();
        report(Outcome.BOUND, decision, BERT);
        report(Outcome.APPLIED, decision, BERT);
        story.after(ofSeconds(1)).progress("bert", JobPhase.RUNNING);
        watched(ofMinutes(5));

        assertThat(label(0)).isEqualTo("training");
        story.job("other", 1);
        watched(ofMinutes(2));
        assertThat(story.decisions())
                .filteredOn(each -> each.action().asAdopt().isEmpty())
                .isNotEmpty()
                .allMatch(Decision::advisory);
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    @Test
    void replicasAreTakenOverAndNoneIsStartedBesideThem() {
        node(Pool.INFERENCE, 3);
        runsOn(TRAIN, 0);
        runsOn(OTHER, 1);
        found.add(process(TRAIN, CHAT));
        found.add(process(OTHER, CHAT));
        story.tell(story.serviceRecord("chat", 2).adopting(SELECTOR));

        watched(ofMinutes(1));
        report(Outcome.BOUND, lastAdoption(), CHAT);
        found.clear();
        watched(ofMinutes(5));

        assertThat(adoptions()).hasSize(1);
        assertThat(adoptions().get(0).found()).hasSize(2);
        assertThat(label(0)).isEqualTo("serving");
        assertThat(label(1)).isEqualTo("serving");
        assertThat(label(2)).isEqualTo("free");
        assertThat(story.decisions())
                .filteredOn(each -> each.action().asServe().isPresent())
                .isEmpty();
    }

    @Test
    void aServiceWhoseReplicasAreNotFoundStartsItsOwnAfterAWhile() {
        node(Pool.INFERENCE, 2);
        story.tell(story.serviceRecord("chat", 1).adopting(SELECTOR));
        watched(ofSeconds(100));
        assertThat(story.decisions()).isEmpty();

        watched(ofMinutes(1));

        assertThat(story.decisions())
                .filteredOn(each -> each.action().asServe().isPresent())
                .isNotEmpty();
    }

    @Test
    void aReplicaOfSeveralGpusNeedsAShapeOfThatSize() {
        node(Pool.INFERENCE, 3);
        runsOn(TRAIN, 0, 1);
        found.add(process(TRAIN, CHAT));
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR));
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("it uses 2 GPUs, and a replica of the service has 1; declare shapes");

        story.tell(story.serviceRecord("chat", 1)
                .adopting(SELECTOR)
                .inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(30)))));
        watched(ofMinutes(1));

        assertThat(adoptions()).hasSize(1);
        assertThat(adoptions().get(0).replicas().get(0).shape()).isEqualTo("tp2");
        report(Outcome.BOUND, lastAdoption(), CHAT);
        assertThat(label(0)).isEqualTo("serving");
        assertThat(label(1)).isEqualTo("serving");
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    @Test
    void aReplicaThatSeveralShapesFitStaysForeignUntilTheyDiffer() {
        node(Pool.INFERENCE, 3);
        runsOn(TRAIN, 0, 1);
        found.add(process(TRAIN, CHAT));
        ReplicaShape in = ReplicaShape.of("in", 2, 1, 10, ofSeconds(30)).as(ReplicaRole.PREFILL);
        ReplicaShape out = ReplicaShape.of("out", 2, 1, 10, ofSeconds(30)).as(ReplicaRole.DECODE);
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR).inShapes(List.of(in, out)));
        watched(ofMinutes(1));
        assertThat(adoptions()).isEmpty();
        assertThat(label(0)).isEqualTo("foreign");
        assertThat(obstacle())
                .isEqualTo("it uses 2 GPUs, as each node of shapes in (prefill, 2 GPUs) and out (decode, 2 GPUs) does; "
                        + "declare shapes of other sizes or kinds, or two services, each with its own selector");

        ReplicaShape large = ReplicaShape.of("tp4", 2, 2, 20, ofSeconds(30));
        ReplicaShape small = ReplicaShape.of("tp2", 2, 1, 10, ofSeconds(30));
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR).inShapes(List.of(small, large)));
        watched(ofMinutes(1));
        assertThat(adoptions()).as("it may be half of a replica").isEmpty();
        assertThat(obstacle()).contains("shapes tp2 (2 GPUs) and tp4 (2 x 2 GPUs)");

        ReplicaShape other = ReplicaShape.of("tp3", 3, 1, 15, ofSeconds(30));
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR).inShapes(List.of(other, small)));
        watched(ofMinutes(1));
        assertThat(adoptions().get(0).replicas().get(0).shape()).isEqualTo("tp2");
    }

    @Test
    void whatIsNotClearStaysForeign() {
        node(Pool.TRAINING, 4);
        rigid(2);
        runsOn(TRAIN, 0, 1);

        found.add(process(TRAIN, BERT, CHAT));
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("the selectors of job bert and service chat match it, and only one may");

        found.set(0, new FoundTenant(new NodeId("n"), TRAIN, List.of(BERT), Optional.of(4), ""));
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("it has 4 workers, and agents report it on 2 GPUs");

        found.set(0, process(TRAIN, BERT));
        runsOn(TRAIN, 2);
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("agents report it on 3 GPUs, and the job declares 2 GPUs");

        users.put(gpu(2), List.of());
        users.put(gpu(1), List.of(TRAIN, OTHER));
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("n-g1 is also used by process/4712-99");

        runsOn(TRAIN, 1);
        found.add(process(OTHER, BERT));
        runsOn(OTHER, 2, 3);
        watched(ofMinutes(1));
        assertThat(obstacle()).isEqualTo("the selector of the job matches 2 things, and the job is one of them");

        assertThat(adoptions()).isEmpty();
        assertThat(story.count("foreign")).isEqualTo(4);
    }

    @Test
    void whatIsFoundIsWatchedFirst() {
        node(Pool.TRAINING, 1);
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        look();
        assertThat(obstacle()).contains("is watched for 30 s first");
        assertThat(adoptions()).isEmpty();
    }

    @Test
    void aSelectorThatMatchesMoreLaterNeedsAnOperator() {
        node(Pool.INFERENCE, 2);
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR));
        look();
        watched(ofMinutes(12));
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, CHAT));
        watched(ofMinutes(2));
        assertThat(adoptions()).isEmpty();
        assertThat(obstacle())
                .contains("more than 10 min after")
                .endsWith("'lendstream adopt service/chat' takes it over");

        story.tell(command(BERT));
        assertThat(adoptions()).isEmpty();
        story.tell(command(CHAT));
        assertThat(adoptions()).hasSize(1);
    }

    private ControlCommand command(Tenant tenant) {
        return new ControlCommand(
                        Scenario.DOMAIN,
                        "command",
                        story.now(),
                        "tester",
                        ControlCommand.Kind.ADOPT,
                        Optional.empty(),
                        List.of(),
                        "for the test")
                .about(List.of(tenant));
    }

    @Test
    void whatCannotBeTakenOverStaysAndIsTriedAgain() {
        node(Pool.TRAINING, 2);
        elastic(2);
        runsOn(TRAIN, 0, 1);
        found.add(process(TRAIN, BERT));
        watched(ofMinutes(1));
        report(Outcome.FAILED, lastAdoption(), BERT);

        assertThat(label(0)).isEqualTo("foreign");
        assertThat(label(1)).isEqualTo("foreign");
        assertThat(story.state().jobs().require(new JobId("bert")).awaitsAdoption())
                .isTrue();
        assertThat(story.decisions()).hasSize(1);

        watched(ofMinutes(9));
        assertThat(adoptions()).hasSize(1);
        assertThat(obstacle()).contains("it could not be taken over; it is tried again after");
        watched(ofMinutes(2));
        assertThat(adoptions()).hasSizeGreaterThan(1);
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    @Test
    void anAdoptionThatNoActuatorAnswersIsUndoneWithoutADecision() {
        node(Pool.TRAINING, 1);
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        watched(ofMinutes(1));
        int decided = story.decisions().size();
        found.clear();

        watched(ofMinutes(6));

        assertThat(label(0)).isEqualTo("foreign");
        assertThat(story.decisions()).hasSize(decided);
        assertThat(story.state().jobs().require(new JobId("bert")).gpus()).isZero();
    }

    @Test
    void anOldReportIsNoNews() {
        node(Pool.TRAINING, 1);
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        watched(ofSeconds(20));
        Instant before = story.now();
        found.clear();
        watched(ofSeconds(40));
        story.tell(ActuationReport.found(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 1, 0),
                "actuator",
                before,
                List.of(process(TRAIN, BERT))));
        assertThat(adoptions()).isEmpty();
    }

    @Test
    void aSelectorMustSelect() {
        assertThatThrownBy(() -> new AdoptionSelector(Map.of())).hasMessageContaining("at least 1 attribute");
        assertThatThrownBy(() -> new AdoptionSelector(Map.of("command", "**")))
                .hasMessage(
                        "the pattern of attribute command must have a character that is not *, but is '**': it would claim everything");
    }

    @Test
    void aGpuThatItGotJustNowIsWatchedToo() {
        node(Pool.INFERENCE, 2);
        found.add(process(TRAIN, CHAT));
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR));
        watched(ofMinutes(1));
        runsOn(TRAIN, 0);
        watched(ofSeconds(20));
        assertThat(adoptions()).isEmpty();
        assertThat(obstacle()).contains("it was found, or got a GPU, only at");

        watched(ofMinutes(1));
        assertThat(adoptions()).hasSize(1);
    }

    @Test
    void aClaimWithARivalMakesAJobUnclear() {
        node(Pool.TRAINING, 2);
        rigid(1);
        runsOn(TRAIN, 0);
        runsOn(OTHER, 1);
        found.add(process(TRAIN, BERT));
        found.add(process(OTHER, BERT, CHAT));
        watched(ofMinutes(1));
        assertThat(adoptions()).isEmpty();
        assertThat(obstacle()).isEqualTo("the selector of the job matches 2 things, and the job is one of them");
    }

    @Test
    void nothingIsTakenOverOnANodeThatTwoActuatorsClaim() {
        node(Pool.TRAINING, 1);
        story.actuator("other", Abilities.USUAL, "n");
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        watched(ofMinutes(1));
        assertThat(adoptions()).isEmpty();
        assertThat(obstacle()).contains("both claim node n");
    }

    @Test
    void nothingIsTakenOverByOldSamples() {
        node(Pool.TRAINING, 1);
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        watched(ofSeconds(20));
        story.withoutTicks(ofMinutes(2));
        story.found("actuator", found);
        assertThat(adoptions()).isEmpty();
        assertThat(obstacle()).isEqualTo("the agent of n is silent");
    }

    @Test
    void aChangedServiceDoesNotTakeOverWhatWasTooLate() {
        node(Pool.INFERENCE, 2);
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR));
        watched(ofMinutes(12));
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, CHAT));
        watched(ofMinutes(1));
        story.tell(story.serviceRecord("chat", 0).adopting(SELECTOR).onSlicesOf(1));
        watched(ofMinutes(2));
        assertThat(adoptions()).isEmpty();
    }

    @Test
    void anActuatorThatAnswersTooLateHasItTakenOverAgain() {
        node(Pool.TRAINING, 1);
        elastic(1);
        runsOn(TRAIN, 0);
        found.add(process(TRAIN, BERT));
        watched(ofMinutes(1));
        Decision first = lastAdoption();
        found.clear();
        watched(ofMinutes(6));
        assertThat(label(0)).isEqualTo("foreign");

        report(Outcome.BOUND, first, BERT);
        assertThat(label(0)).isEqualTo("foreign");
        story.after(ofSeconds(1));
        report(Outcome.HOLDS, first, BERT);

        assertThat(adoptions()).hasSize(2);
        assertThat(label(0)).isEqualTo("binding");
        report(Outcome.BOUND, lastAdoption(), BERT);
        assertThat(label(0)).isEqualTo("training");
    }
}
