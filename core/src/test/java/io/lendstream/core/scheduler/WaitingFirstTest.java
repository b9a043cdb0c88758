package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Replicas that only expected requests need make way for requests that wait. */
class WaitingFirstTest extends WaitingStory {
    @Test
    void replicasThatOnlyExpectedRequestsNeedAreStoppedForThoseThatWait() {
        embedHoldsAll();

        load("chat", 2, 2).windows(1);

        assertThat(serving("chat")).isEqualTo(2);
        assertThat(serving("embed")).isEqualTo(2);
        assertThat(stops()).singleElement().satisfies(stop -> {
            assertThat(stop.reason().text())
                    .isEqualTo(
                            "embed stops 2 replicas for requests of chat that wait, and keeps 1 for its present load; chat is"
                                    + " short of 2 replicas (2 needed for the current load, 0 running)");
            assertThat(stop.reason().numbers()).containsEntry("idled", 2.0).containsEntry("kept", 1.0);
        });
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void withoutTheSettingExpectedRequestsKeepTheirs() {
        story = begun("lendstream", Map.of(), 4);
        embedHoldsAll();

        load("chat", 2, 2).windows(8);

        assertThat(serving("chat")).isZero();
        assertThat(stops()).isEmpty();
    }

    @Test
    void policiesThatIgnoreForecastsStayAsTheyAre() {
        story = begun("deepboot", ON, 4);
        load("embed", 6, 6).load("chat", 0, 0).windows(6);

        load("chat", 2, 2).windows(8);

        assertThat(serving("embed")).isEqualTo(4);
        assertThat(story.decisions()).noneMatch(decision -> decision.reason().is(ReasonCode.WAITING));
    }

    @Test
    void aServiceKeepsWhatItsOwnLoadNeeds() {
        load("embed", 3, 4).load("chat", 0, 0).windows(6);

        load("chat", 1, 1).windows(8);

        assertThat(serving("embed")).isEqualTo(3);
        assertThat(serving("chat")).isEqualTo(1);
    }

    @Test
    void aServiceKeepsItsFloor() {
        story.service("embed", 3).settled();
        embedHoldsAll();

        load("chat", 3, 3).windows(8);

        assertThat(serving("embed")).isEqualTo(3);
        assertThat(serving("chat")).isEqualTo(1);
    }

    @Test
    void whatAServiceGetsForMissedSlosIsNotTakenAsExpected() {
        story = begun("lendstream", Map.of("waiting-first", "true", "slo-extra", "1"), 8);
        story.service("big", 0).settled();
        load("embed", 2, 2).load("chat", 0, 0).windows(4);
        for (int i = 0; i < 5; i++) {
            story.after(ofSeconds(15))
                    .settled()
                    .forecast("embed", 16)
                    .settled()
                    .served("embed", 16, 30, List.of())
                    .settled()
                    .rate("chat", 0)
                    .settled();
        }
        load("big", 10, 10).windows(4);
        assertThat(serving("embed")).as("2 for its load, 1 more").isEqualTo(3);
        assertThat(serving("big")).isEqualTo(5);

        load("chat", 2, 2).windows(6);

        assertThat(serving("embed")).isEqualTo(3);
        assertThat(serving("big")).as("its equal share").isEqualTo(3);
        assertThat(serving("chat")).isEqualTo(2);
    }

    @Test
    void nothingIsStoppedForRequestsThatAreOnlyExpected() {
        embedHoldsAll();

        load("chat", 0, 4).windows(8);

        assertThat(serving("embed")).isEqualTo(4);
        assertThat(stops()).isEmpty();
    }

    @Test
    void whatWasStoppedDoesNotComeBack() {
        embedHoldsAll();

        load("chat", 2, 2).windows(40);

        assertThat(stops()).hasSize(1);
        assertThat(serving("chat")).isEqualTo(2);
    }

    @Test
    void aReplicaThatBeganAShortTimeAgoIsNotStopped() {
        load("embed", 1, 4).load("chat", 0, 0).windows(2);
        assertThat(serving("embed")).isEqualTo(4);

        load("chat", 2, 2).windows(2);
        assertThat(stops()).as("30 s after its start").isEmpty();

        windows(2);
        assertThat(stops()).as("60 s after its start").hasSize(1);
    }

    @Test
    void replicasThatRestAreStoppedFirst() {
        story = begun("lendstream:protect-scale=100", ON, 6).service("other", 0).settled();
        load("embed", 3, 3).load("other", 1, 3).load("chat", 0, 0).windows(6);
        load("embed", 2, 2).windows(10);
        assertThat(story.count("protected")).isEqualTo(1);

        load("chat", 1, 1).windows(1);

        assertThat(story.count("protected")).isZero();
        assertThat(serving("other")).as("it has more to spare, but these work").isEqualTo(3);
        assertThat(serving("chat")).isEqualTo(1);
    }

    @Test
    void gpusThatAreAboutToBeFreeCount() {
        embedHoldsAll();
        load("chat", 2, 2);
        story.after(ofSeconds(15)).settled().rate("chat", 16);
        assertThat(story.last()).anyMatch(decision -> decision.action().asIdle().isPresent());

        story.rate("chat", 16); // its two GPUs are still being released

        assertThat(stops()).hasSize(1);
    }

    @Test
    void freeGpusGoToRequestsThatWait() {
        story = begun("lendstream", ON, 0);
        load("aaa", 0, 4).load("chat", 3, 3);
        story.service("aaa", 0).settled();
        windows(1);

        story.node("more", Pool.INFERENCE, 4).settled();

        assertThat(serving("chat")).isEqualTo(3);
        assertThat(serving("aaa")).isEqualTo(1);
    }

    @Test
    void loansComeBackBeforeReplicasAreStopped() {
        story = begun("lendstream", ON, 6)
                .node("train", Pool.TRAINING, 1)
                .job("bert", 4)
                .settled();
        load("embed", 1, 4).load("chat", 0, 0);
        for (int i = 0; i < 16; i++) {
            windows(1);
            story.progress("bert", JobPhase.RUNNING).settled();
        }
        assertThat(story.count("lent")).isEqualTo(2);

        load("chat", 2, 2).windows(1);

        assertThat(serving("chat")).isEqualTo(2);
        assertThat(serving("embed")).isEqualTo(4);
    }

    @Test
    void aNewServiceGetsItsFloor() {
        embedHoldsAll();

        story.service("new", 1).settled();

        assertThat(serving("new")).isEqualTo(1);
        assertThat(serving("embed")).isEqualTo(3);
    }

    @Test
    void onlyReplicasOnKindsThatTheOtherUsesAreStopped() {
        story = new Scenario(new Scheduler(
                        Policies.parse("lendstream"),
                        SchedulerSettings.of(Map.of("waiting-first", "true", "kinds", "true"))))
                .node("a", Pool.INFERENCE, 2, "NVIDIA A100-SXM4-80GB")
                .node("l", Pool.INFERENCE, 2, "NVIDIA L4", 24)
                .service("embed", 0);
        KindId l4 = story.state().gpus().require(new GpuId("l-g0")).kind().orElseThrow();
        InferenceService chat = story.serviceRecord("chat", 0).onKinds(List.of(KindCapacity.of(l4, 10)));
        story.tell(chat).settled();
        embedHoldsAll();

        load("chat", 3, 3).windows(4);

        assertThat(serving("chat")).isEqualTo(2);
        assertThat(replicas("chat")).allMatch(unit -> unit.kind().equals(Optional.of(l4)));
        assertThat(serving("embed")).isEqualTo(2);
    }

    @Test
    void noMoreAreStoppedThanAQuotaAllows() {
        story = new Scenario(new Scheduler(Policies.parse("lendstream"), SchedulerSettings.of(ON)))
                .node("infer", Pool.INFERENCE, 4)
                .queue("team", 1)
                .service("embed", 0)
                .service("chat", 0, "team")
                .settled();
        embedHoldsAll();

        load("chat", 3, 3).windows(8);

        assertThat(stops().stream()
                        .mapToInt(stop -> stop.action().gpus().size())
                        .sum())
                .isEqualTo(1);
        assertThat(serving("chat")).isEqualTo(1);
        assertThat(serving("embed")).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Both queues are within their nominal quotas, so that no quota takes either. */
    @Test
    void replicasOfAnotherQueueAreNotStopped() {
        story = new Scenario(new Scheduler(Policies.parse("lendstream"), SchedulerSettings.of(ON)))
                .node("infer", Pool.INFERENCE, 4)
                .queue("one", 4)
                .queue("other", 4)
                .service("embed", 0, "one")
                .service("chat", 0, "other")
                .settled();
        embedHoldsAll();

        load("chat", 2, 2).windows(8);

        assertThat(stops()).isEmpty();
        assertThat(serving("embed")).isEqualTo(4);
    }

    @Test
    void approvedAdviceStopsReplicasThatWork() {
        embedHoldsAll();
        story.control(ControlCommand.Kind.ADVISORY_ON);
        load("chat", 2, 2).windows(8);
        assertThat(serving("embed")).isEqualTo(4);
        Decision advice = stops().get(stops().size() - 1);

        story.approve(advice.id()).settled();

        assertThat(serving("embed")).isEqualTo(2);
    }

    /** What is freed goes to the service that waits, and not to a loan. */
    @Test
    void adviceToStopForOthersIsNoGain() {
        embedHoldsAll();
        story.control(ControlCommand.Kind.ADVISORY_ON);
        load("chat", 2, 2).windows(8);
        LendingExplainer explainer = new LendingExplainer(story.state().domain());
        story.log().forEach(explainer::take);

        assertThat(stops()).isNotEmpty();
        assertThat(explainer.gain().covered()).isPositive();
        assertThat(explainer.gain().freed()).isZero();
    }

    @Test
    void theLogHasTheSettingOnlyIfItIsOn() {
        assertThat(SchedulerSettings.DEFAULTS.toMap()).doesNotContainKey("waiting-first");
        assertThat(SchedulerSettings.DEFAULTS.withWaitingFirst(true).toMap()).containsEntry("waiting-first", "true");
        assertThat(SchedulerSettings.of(Map.of()).changeLimits().slo().waitingFirst())
                .isFalse();
        assertThat(SchedulerSettings.of(ON)).isEqualTo(SchedulerSettings.DEFAULTS.withWaitingFirst(true));
    }

    @Test
    void whatItsGreatestLoadOfTheLastMinuteNeededIsKept() {
        load("embed", 3, 4).load("chat", 0, 0).windows(8);

        load("embed", 1, 4).load("chat", 3, 3).windows(2);
        assertThat(serving("embed")).as("30 s after it needed 3").isEqualTo(3);

        windows(8);
        assertThat(serving("embed")).as("2.5 minutes after it needed 3").isEqualTo(1);
        assertThat(serving("chat")).isEqualTo(3);
    }

    @Test
    void forecastsThatSwingKeepNoReplicas() {
        load("embed", 1, 4).load("chat", 0, 0).windows(6);

        load("chat", 2, 2);
        for (int i = 0; i < 6; i++) {
            load("embed", 1, i % 2 == 0 ? 1 : 4).windows(1);
        }

        assertThat(serving("chat")).isEqualTo(2);
    }

    @Test
    void needsThatSwingMoveNoReplicas() {
        load("embed", 2, 2).load("chat", 2, 2).windows(8);

        for (int i = 0; i < 40; i++) {
            load("embed", i % 2 == 0 ? 3 : 1, 3)
                    .load("chat", i % 2 == 0 ? 1 : 3, 3)
                    .windows(1);
        }

        assertThat(stops()).hasSizeLessThanOrEqualTo(1);
    }
}
