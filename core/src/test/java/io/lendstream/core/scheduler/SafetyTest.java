package io.lendstream.core.scheduler;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When silence, or a person, forbids something, and how that is put. */
class SafetyTest {
    private static final Safety SAFETY = new Safety(SchedulerSettings.DEFAULTS);

    private final Moment moment = new Moment();

    private Optional<String> againstTrust(Duration after) {
        return SAFETY.againstTrust(moment.after(after));
    }

    @Test
    void demandIsTrustedUntilMoreThanThreeWindowsHavePassedWithoutARate() {
        moment.service("chat", 1).rate("chat", 5);

        assertThat(againstTrust(ofSeconds(45))).isEmpty();
        assertThat(againstTrust(ofMillis(45_001)))
                .contains("the request rates of chat are 45 s old (limit: 45 s, 3 windows of 15 s)");
        assertThat(SAFETY.againstLoans(moment.after(ofSeconds(70))))
                .contains("the request rates of chat are 70 s old (limit: 45 s, 3 windows of 15 s)");
    }

    @Test
    void aServiceOfWhichNoRateCameIsSilentSinceItWasDescribedButItsRatesHaveNoAge() {
        moment.service("chat", 1);

        assertThat(againstTrust(ofSeconds(45))).isEmpty();
        assertThat(againstTrust(ofSeconds(50)))
                .contains("no request rate of chat has arrived yet; let an agent or a gateway report its rates");
        assertThat(SAFETY.againstKeepingLoans(moment.after(ofSeconds(61))))
                .contains("the demand of chat is unknown (no request rate has arrived yet)");
    }

    @Test
    void theSilentOneOfTwoServicesIsNamed() {
        moment.service("chat", 1)
                .service("search", 1)
                .rate("search", 5)
                .later(ofSeconds(40))
                .rate("chat", 5);

        assertThat(againstTrust(ofSeconds(10)))
                .contains("the request rates of search are 50 s old (limit: 45 s, 3 windows of 15 s)");
        assertThat(againstTrust(ofSeconds(5))).isEmpty();
    }

    @Test
    void anHourIsWaitedForALateRateAtMost() {
        moment.service("chat", 1).observe(moment.rateOf("chat", 5, ofMinutes(30), Optional.empty()));

        assertThat(againstTrust(ofHours(1))).isEmpty();
        assertThat(againstTrust(ofMinutes(61))).contains("the request rates of chat are 3660 s old (limit: 3600 s)");
    }

    @Test
    void threeWindowsOfAnHourTogetherAreStillNamedAsSuch() {
        moment.service("chat", 1).observe(moment.rateOf("chat", 5, ofMinutes(20), Optional.empty()));

        assertThat(againstTrust(ofMinutes(61)))
                .contains("the request rates of chat are 3660 s old (limit: 3600 s, 3 windows of 1200 s)");
    }

    @Test
    void loansAreTakenBackOnceDemandIsUnknownForLongerThanAMinute() {
        moment.service("chat", 1).service("search", 1).rate("search", 5);
        moment.later(ofSeconds(30)).rate("chat", 5);

        assertThat(SAFETY.againstKeepingLoans(moment.after(ofSeconds(30)))).isEmpty();
        assertThat(SAFETY.againstKeepingLoans(moment.after(ofMillis(30_001))))
                .contains("the demand of search is unknown (no request rates for 60 s)");
        assertThat(SAFETY.againstKeepingLoans(moment.after(ofSeconds(61))))
                .contains("the demand of chat is unknown (no request rates for 61 s)");
    }

    @Test
    void whereThereAreNoServicesNothingIsUnknown() {
        moment.node("infer", Pool.INFERENCE, 1);

        assertThat(SAFETY.againstKeepingLoans(moment.after(ofMinutes(10)))).isEmpty();
        assertThat(againstTrust(ofMinutes(10))).isEmpty();
    }

    @Test
    void ordersOfPeopleAreNamed() {
        moment.control(ControlCommand.Kind.RECLAIM_ALL);
        StepBuilder reclaimed = moment.after(ofSeconds(1));
        moment.control(ControlCommand.Kind.FREEZE);
        StepBuilder frozen = moment.after(ofSeconds(1));

        assertThat(SAFETY.againstLoans(reclaimed))
                .contains("an operator ordered all loans back; 'lendstream thaw' allows loans again");
        assertThat(SAFETY.againstKeepingLoans(reclaimed)).contains("an operator ordered all loans back");
        assertThat(SAFETY.againstChanges(reclaimed)).isEmpty();
        assertThat(SAFETY.againstChanges(frozen)).contains("the domain is frozen");
        assertThat(SAFETY.againstEverything(frozen)).isEmpty();
    }

    /** So many of five nodes are sampled again a minute and a second later. */
    private Moment heardAgain(String... nodes) {
        for (int i = 1; i <= 5; i++) {
            moment.node("n" + i, Pool.INFERENCE, 1).sampled("n" + i);
        }
        return moment.later(ofSeconds(61)).sampled(nodes);
    }

    @Test
    void twoOfFiveNodesMayBeSilentAtOnce() {
        heardAgain("n1", "n2", "n3");

        assertThat(SAFETY.tooManyNodesStale(moment.after(Duration.ZERO))).isFalse();
        assertThat(SAFETY.againstEverything(moment.after(Duration.ZERO))).isEmpty();
        assertThat(SAFETY.againstChanges(moment.after(Duration.ZERO))).isEmpty();
    }

    @Test
    void whereThreeOfFiveNodesAreSilentTheFaultIsLikelyOurs() {
        heardAgain("n1", "n2");

        assertThat(SAFETY.tooManyNodesStale(moment.after(Duration.ZERO))).isTrue();
        assertThat(SAFETY.againstChanges(moment.after(Duration.ZERO)))
                .contains("3 of 5 nodes do not report, more than 40 %, so the fault is likely in the reporting path");
    }

    @Test
    void allSilentNodesAreCounted() {
        heardAgain();

        assertThat(SAFETY.againstEverything(moment.after(Duration.ZERO)))
                .contains("5 of 5 nodes do not report, more than 40 %, so the fault is likely in the reporting path");
    }

    @Test
    void nodesThatWereNeverSampledDoNotCount() {
        heardAgain("n1", "n2").node("n6", Pool.INFERENCE, 1).node("n7", Pool.INFERENCE, 1);

        assertThat(SAFETY.againstEverything(moment.after(Duration.ZERO)))
                .contains("3 of 5 nodes do not report, more than 40 %, so the fault is likely in the reporting path");
    }

    @Test
    void aNodeThatPausedIsNotSilent() {
        heardAgain("n1", "n2").status("n4", NodeStatus.PAUSED);
        assertThat(SAFETY.tooManyNodesStale(moment.after(Duration.ZERO))).isFalse();

        moment.status("n4", NodeStatus.UNAVAILABLE);
        assertThat(SAFETY.tooManyNodesStale(moment.after(Duration.ZERO))).isTrue();
    }

    @Test
    void aNodeIsSilentAfterMoreThanAMinute() {
        moment.node("infer", Pool.INFERENCE, 1).sampled("infer");

        assertThat(SAFETY.tooManyNodesStale(moment.after(ofMinutes(1)))).isFalse();
        assertThat(SAFETY.tooManyNodesStale(moment.after(ofMillis(60_001)))).isTrue();
    }

    @Test
    void aNodeThatIsSampledRarelyIsSilentAfterThreeOfItsPeriods() {
        moment.node("infer", Pool.INFERENCE, 1).sampled("infer");
        moment.later(ofSeconds(30)).sampled("infer");

        assertThat(SAFETY.tooManyNodesStale(moment.after(ofSeconds(90)))).isFalse();
        assertThat(SAFETY.tooManyNodesStale(moment.after(ofMillis(90_001)))).isTrue();
    }

    @Test
    void aNodeThatIsSampledOftenIsStillGivenAMinute() {
        moment.node("infer", Pool.INFERENCE, 1).sampled("infer");
        moment.later(ofSeconds(5)).sampled("infer");

        assertThat(SAFETY.tooManyNodesStale(moment.after(ofMinutes(1)))).isFalse();
        assertThat(SAFETY.tooManyNodesStale(moment.after(ofMillis(60_001)))).isTrue();
    }

    private Optional<String> againstLoansTo(Duration after) {
        return SAFETY.againstLoansTo(moment.jobState("a"), Moment.NOW.plus(after));
    }

    @Test
    void aJobThatTrainsAndHasNotReportedForMoreThanFiveMinutesIsLentNothing() {
        moment.node("train", Pool.TRAINING, 1)
                .job("a", 2)
                .progress("a", JobPhase.RUNNING)
                .allocated("a", "train-g0");

        assertThat(againstLoansTo(ofMinutes(5))).isEmpty();
        assertThat(againstLoansTo(ofSeconds(301)))
                .contains("the last progress report of a is 301 s old (limit: 300 s)");
    }

    @Test
    void aJobWithoutGpusIsNotExpectedToReport() {
        moment.job("a", 2).progress("a", JobPhase.QUEUED);

        assertThat(againstLoansTo(ofMinutes(10))).isEmpty();
    }

    @Test
    void aJobThatHasNotReportedYetOrIsBeingChangedIsNotStale() {
        moment.node("train", Pool.TRAINING, 1).job("a", 2).allocated("a", "train-g0");
        assertThat(againstLoansTo(ofMinutes(10))).isEmpty();

        moment.progress("a", JobPhase.RUNNING).changing("a", Moment.NOW.plusSeconds(60), "train-g0");
        assertThat(againstLoansTo(ofMinutes(10))).isEmpty();
    }

    @Test
    void guardsSayWhatTheyForbidAndWhyTheyAreBroken() {
        moment.service("chat", 1).control(ControlCommand.Kind.FREEZE);
        StepBuilder builder = moment.after(ofSeconds(70));

        assertThat(SAFETY.rules(builder))
                .containsExactly(
                        new SafetyRule("lending is on", "new loans", Optional.empty()),
                        new SafetyRule(
                                "the request rates of all services are fresh and lending is not stopped",
                                "new loans",
                                Optional.of("no request rate of chat has arrived yet; let an agent or a gateway report"
                                        + " its rates")),
                        new SafetyRule(
                                "the demand of all services is known, and loans are not ordered back",
                                "keeping loans",
                                Optional.of("the demand of chat is unknown (no request rate has arrived yet)")),
                        new SafetyRule(
                                "the domain is not frozen",
                                "changes of jobs, except reclaims for inference",
                                Optional.of("the domain is frozen")),
                        new SafetyRule("at least 60 % of the nodes report", "every change", Optional.empty()));
        assertThat(new Safety(SchedulerSettings.DEFAULTS.withLending(false)).rules(builder))
                .element(0)
                .isEqualTo(new SafetyRule(
                        "lending is on",
                        "new loans",
                        Optional.of("lending is switched off (scheduler.lending=false)")));
    }

    @Test
    void silenceNextForcesSomethingWhenTheFirstServiceThatIsStillKnownBecomesUnknown() {
        moment.service("chat", 1).later(ofSeconds(30)).service("search", 1);

        assertThat(Safety.nextChange(moment.state().clusterIndex(), Moment.NOW.plusSeconds(60)))
                .contains(Moment.NOW.plusMillis(60_001));
        assertThat(Safety.nextChange(moment.state().clusterIndex(), Moment.NOW.plusMillis(60_001)))
                .contains(Moment.NOW.plusMillis(90_001));
        assertThat(Safety.nextChange(moment.state().clusterIndex(), Moment.NOW.plusMillis(90_001)))
                .isEmpty();
    }

    @Test
    void whatIsJudgedOfDemandRestsOnTheLastRateOfEverySource() {
        moment.service("chat", 1)
                .rate("chat", 5)
                .rate("chat", 6)
                .service("search", 1)
                .rate("search", 1);
        long last = moment.state().eventSequence();

        assertThat(Safety.inputs(moment.after(ofSeconds(1)))).containsExactly(last - 2, last);
    }
}
