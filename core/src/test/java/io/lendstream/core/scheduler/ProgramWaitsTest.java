package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ProgramFault;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A program that a node cannot run is no fault of its GPUs, and is started again after waits that get longer. */
class ProgramWaitsTest extends SmallClusterFixture {
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final String WHY = "its program /opt/chat does not exist on this machine; install it";

    private static Scenario oneNode() {
        return Scenario.of("deepboot").node("a", Pool.INFERENCE, 2).service("chat", 1);
    }

    private static Decision last(Scenario story, String kind) {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals(kind))
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    private static long count(Scenario story, String kind) {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals(kind))
                .count();
    }

    private static Scenario fails(Scenario story, Decision decision, Tenant tenant, Outcome outcome, String... gpus) {
        return story.tell(new ActuationReport(
                        Scenario.DOMAIN,
                        decision.id(),
                        "test",
                        story.now(),
                        outcome,
                        List.of(gpus).stream().map(GpuId::new).toList(),
                        Optional.of(tenant),
                        Timings.NONE,
                        WHY)
                .ofProgram(true));
    }

    private static GpuState gpu(Scenario story, String name) {
        return story.state().gpus().require(new GpuId(name));
    }

    private static List<ProgramFault> faults(Scenario story) {
        return story.state().services().require(new ServiceId("chat")).starts().faults();
    }

    /** When the next replica is started. */
    private static Instant nextServe(Scenario story, Duration most) {
        long before = count(story, "serve");
        Instant end = story.now().plus(most);
        while (count(story, "serve") == before && story.now().isBefore(end)) {
            story.after(ofSeconds(1));
        }
        return story.now();
    }

    @Test
    void aMissingProgramNeverPutsAGpuOutOfServiceAndIsTriedAgainAfterLongerAndLongerWaits() {
        story = oneNode();
        long[] waits = {30, 60, 120, 240, 480, 600, 600};

        for (long wait : waits) {
            Instant failed = story.now();
            fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");

            assertThat(gpu(story, "a-g0").isFree()).isTrue();
            assertThat(gpu(story, "a-g0").failedBinds()).isZero();
            assertThat(Duration.between(failed, nextServe(story, ofMinutes(15))))
                    .isEqualTo(ofSeconds(wait));
        }

        assertThat(count(story, "serve")).isEqualTo(1 + waits.length);
        assertThat(story.count("quarantined")).isZero();
    }

    @Test
    void aHoldSaysWhatIsWrongOnceForEachWait() {
        story = oneNode();
        Decision serve = last(story, "serve");
        fails(story, serve, CHAT, Outcome.FAILED, "a-g0");
        fails(story, serve, CHAT, Outcome.FAILED, "a-g0");

        assertThat(count(story, "hold")).isEqualTo(1);
        Decision hold = last(story, "hold");
        assertThat(hold.reason().is(ReasonCode.PROGRAM)).isTrue();
        assertThat(hold.reason().text())
                .isEqualTo("service chat starts no replica on node a for 30 s, because node a cannot run its program: "
                        + WHY + ". Its GPUs stay in use; a declaration that is applied again is tried at once");
        nextServe(story, ofMinutes(1));
        fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");

        assertThat(count(story, "hold")).isEqualTo(2);
    }

    @Test
    void anotherNodeIsTriedAtOnce() {
        story = oneNode().node("b", Pool.INFERENCE, 1);

        fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");

        assertThat(last(story, "serve").action().asServe().orElseThrow().gpus()).containsExactly(new GpuId("b-g0"));
    }

    private void says(Outcome outcome) {
        story.tell(story.report(last(story, "serve").id(), outcome, List.of(new GpuId("a-g0")), Optional.of(CHAT)));
    }

    @Test
    void aReplicaThatStillRunsSomeTimeAfterItsStartEndsTheCount() {
        story = oneNode();
        fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");
        nextServe(story, ofMinutes(1));
        assertThat(faults(story)).extracting(ProgramFault::waits).containsExactly(false);

        says(Outcome.BOUND);
        story.withoutTicks(ofSeconds(9));
        says(Outcome.HOLDS);
        assertThat(faults(story)).hasSize(1);
        story.withoutTicks(ofSeconds(1));
        says(Outcome.HOLDS);

        assertThat(faults(story)).isEmpty();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    /** It says nothing about a program that has gone since, and that others of its service could not run. */
    @Test
    void aReplicaThatRanBeforeTheFaultDoesNotEndTheCount() {
        story = oneNode();
        says(Outcome.BOUND);
        story.withoutTicks(ofSeconds(60)).service("chat", 2);
        Decision second = last(story, "serve");
        fails(story, second, CHAT, Outcome.FAILED, "a-g1");

        story.after(ofSeconds(31));
        assertThat(faults(story)).extracting(ProgramFault::waits).containsExactly(false);
        story.tell(story.report(second.id(), Outcome.HOLDS, List.of(new GpuId("a-g0")), Optional.of(CHAT)));

        assertThat(faults(story)).hasSize(1);
    }

    /** Without an address to ask, each of its starts seems to be one, until its program has ended. */
    @Test
    void aReplicaThatEndsSoonAfterEachStartWaitsLongerEachTime() {
        story = oneNode();
        for (long wait : new long[] {30, 60, 120, 240, 480, 600, 600}) {
            Decision serve = last(story, "serve");
            says(Outcome.BOUND);
            story.withoutTicks(ofSeconds(1));

            fails(story, serve, CHAT, Outcome.RELEASED, "a-g0");

            assertThat(Duration.between(story.now(), nextServe(story, ofMinutes(15))))
                    .isEqualTo(ofSeconds(wait));
        }
    }

    @Test
    void aLateReportOfAStartThatWasTriedAgainOnTheNodeBeginsNoWait() {
        story = oneNode();
        Decision first = last(story, "serve");
        fails(story, first, CHAT, Outcome.FAILED, "a-g0");
        nextServe(story, ofMinutes(1));

        fails(story, first, CHAT, Outcome.FAILED, "a-g0");

        assertThat(faults(story))
                .extracting(ProgramFault::failures, ProgramFault::waits)
                .containsExactly(tuple(1, false));
        assertThat(count(story, "hold")).isEqualTo(1);
        says(Outcome.BOUND);
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aLateReportOfAJobThatRunsOrWasStartedAgainBeginsNoWait() {
        story = Scenario.of("deepboot").node("t", Pool.TRAINING, 1).job("bert", 1);
        startsAndFails(1);
        Decision first = last(story, "resize");
        waitForStartOfJob();

        fails(story, first, BERT, Outcome.FAILED, "t-g0");
        assertThat(story.job("bert").waitsForProgram()).isFalse();
        story.settled().progress("bert", JobPhase.RUNNING);
        fails(story, first, BERT, Outcome.FAILED);

        assertThat(story.job("bert").waitsForProgram()).isFalse();
        assertThat(story.job("bert").gpus()).isEqualTo(1);
        assertThat(count(story, "hold")).isEqualTo(1);
    }

    @Test
    void aNewDeclarationEndsTheWait() {
        story = oneNode();
        fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");
        story.withoutTicks(ofSeconds(1));

        story.service("chat", 1);

        assertThat(faults(story)).isEmpty();
        assertThat(count(story, "serve")).isEqualTo(2);
    }

    @Test
    void aDeclarationThatIsWrittenAgainUnchangedEndsTheWait() {
        story = oneNode();
        InferenceService declared =
                story.state().services().require(new ServiceId("chat")).spec();
        fails(story, last(story, "serve"), CHAT, Outcome.FAILED, "a-g0");
        story.withoutTicks(ofSeconds(1));

        story.tell(declared);

        assertThat(faults(story)).isEmpty();
        assertThat(count(story, "serve")).isEqualTo(2);
    }

    /** A replica without an address to ask seems to run until its shell has ended. */
    @Test
    void aReplicaThatWasTakenForRunningWaitsToo() {
        story = oneNode();
        Decision serve = last(story, "serve");
        story.tell(story.report(serve.id(), Outcome.BOUND, List.of(new GpuId("a-g0")), Optional.of(CHAT)));
        story.withoutTicks(ofSeconds(1));

        fails(story, serve, CHAT, Outcome.RELEASED, "a-g0");

        assertThat(gpu(story, "a-g0").isFree()).isTrue();
        assertThat(Duration.between(story.now(), nextServe(story, ofMinutes(2))))
                .isEqualTo(ofSeconds(30));
    }

    @Test
    void nothingIsTakenFromOthersOnANodeThatCannotRunTheProgram() {
        lending("deepboot").rate("chat", 15);
        Decision serve = last(story, "serve");
        GpuId unit = serve.action().asServe().orElseThrow().gpus().get(0);
        fails(story, serve, CHAT, Outcome.FAILED, unit.value());
        long before = count(story, "reclaim");

        story.rate("chat", 35).settled();

        assertThat(count(story, "reclaim")).isEqualTo(before);
        assertThat(story.count("lent")).isEqualTo(2);
        story.withoutTicks(ofSeconds(31)).rate("chat", 35);
        assertThat(count(story, "reclaim")).isEqualTo(before + 1);
    }

    private void waitForStartOfJob() {
        long before = count(story, "resize");
        while (count(story, "resize") == before) {
            story.after(ofSeconds(5));
        }
    }

    private void startsAndFails(int times) {
        for (int failures = 1; failures <= times; failures++) {
            waitForStartOfJob();
            fails(story, last(story, "resize"), BERT, Outcome.FAILED, "t-g0");
            story.settled();
            assertThat(gpu(story, "t-g0").isFree()).isTrue();
            ProgramFault fault = story.job("bert").change().fault().orElseThrow();
            assertThat(fault.failures()).isEqualTo(failures);
            assertThat(Duration.between(story.now(), fault.until())).isEqualTo(ofSeconds(15L << failures));
        }
    }

    @Test
    void aJobIsNotStartedDuringItsWaitAndOthersMayHaveItsGpu() {
        story = Scenario.of("deepboot").node("t", Pool.TRAINING, 1).job("bert", 1);
        startsAndFails(3);
        assertThat(last(story, "hold").reason().text())
                .startsWith("job bert gets no further GPU for 120 s, because node t cannot run its program: " + WHY);

        story.job("gpt", 1);
        for (int i = 0; i < 23; i++) {
            story.after(ofSeconds(5)).settled();
        }

        assertThat(story.job("gpt").gpus()).isEqualTo(1);
        assertThat(story.job("bert").gpus()).isZero();
        assertThat(gpu(story, "t-g0").failedBinds()).isZero();
    }

    @Test
    void aJobWhoseProgramRunsInTheEndForgetsItsFailures() {
        story = Scenario.of("deepboot").node("t", Pool.TRAINING, 1).job("bert", 1);
        startsAndFails(2);
        assertThat(story.state().clusterIndex().jobs().open().isEmpty()).isTrue();

        waitForStartOfJob();
        story.settled().progress("bert", JobPhase.RUNNING);

        assertThat(story.job("bert").change().fault()).isEmpty();
        assertThat(story.job("bert").gpus()).isEqualTo(1);
    }

    @Test
    void aNewDeclarationOfAJobEndsItsWait() {
        story = Scenario.of("deepboot").node("t", Pool.TRAINING, 1).job("bert", 1);
        startsAndFails(5);

        story.withoutTicks(ofSeconds(1)).job("bert", 1);

        assertThat(story.job("bert").change().fault()).isEmpty();
        assertThat(story.state().clusterIndex().jobs().open().isEmpty()).isFalse();
    }

    @Test
    void aDeclarationOfAJobThatIsWrittenAgainUnchangedEndsItsWait() {
        story = Scenario.of("deepboot").node("t", Pool.TRAINING, 1).job("bert", 1);
        startsAndFails(5);
        long before = count(story, "resize");

        story.tell(story.job("bert").spec());
        for (int i = 0; i < 12; i++) {
            story.after(ofSeconds(5));
        }

        assertThat(story.job("bert").change().fault()).isEmpty();
        assertThat(count(story, "resize")).isEqualTo(before + 1);
    }
}
