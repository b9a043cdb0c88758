package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.binding;
import static io.lendstream.core.scheduler.Moment.decision;
import static io.lendstream.core.scheduler.Moment.gpus;
import static io.lendstream.core.scheduler.Moment.job;
import static io.lendstream.core.scheduler.Moment.lent;
import static io.lendstream.core.scheduler.Moment.releasing;
import static io.lendstream.core.scheduler.Moment.service;
import static io.lendstream.core.scheduler.Moment.serving;
import static io.lendstream.core.scheduler.Moment.training;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Reports on changes of tenants whose driver does not choose units, also those that meet an exchange half way. */
class SlotReportsTest extends SlotFixture {
    @Test
    void aBindWithoutKnowledgeIsASlotOfItsUser() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0").allocated("a", "n-g0");

        report(Outcome.BOUND, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.slot(Optional.of("pod-a")));
        assertThat(moment.state().clusterIndex().gpus().unplaced()).hasSize(1);
    }

    @Test
    void aBindUnderTheNameBeforeAnExchangeBindsTheUnitThatTheTenantHasNow() {
        slot("b", "pod-b", "n-g0");
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g1").allocated("a", "n-g1");

        report(Outcome.BOUND, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertThat(moment.owner("n-g1")).isEqualTo(training("a"));
        assertThat(moment.owner("n-g0")).isEqualTo(training("b"));
    }

    @Test
    void aBindOnAnotherFreeUnitOfTheClassMovesTheNameThere() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0").allocated("a", "n-g0");

        report(Outcome.BOUND, "a", "n-g0", on("n-g2", "n-g0", "pod-a"));

        assertOwners("", "", "a", "");
        assertAllocated("a", "n-g2");
        assertThat(moment.gpu("n-g2").slot()).contains(SlotKnowledge.named(Optional.of("pod-a")));
        assertThat(moment.gpu("n-g0").slot()).isEmpty();
    }

    @Test
    void aBindOnTheUnitOfASlotExchangesTheOwners() {
        slot("b", "pod-b", "n-g2");
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0")
                .allocated("a", "n-g0")
                .allocated("b", "n-g2");

        report(Outcome.BOUND, "a", "n-g0", on("n-g2", "n-g0", "pod-a"));

        assertOwners("b", "", "a", "");
        assertAllocated("a", "n-g2");
        assertAllocated("b", "n-g0");
        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.slot(Optional.of("pod-b")));
        assertThat(moment.gpu("n-g0").boundBy()).contains("agent-1");
    }

    @Test
    void aBindOnAUnitOnWhichAnotherTenantWasSeenPutsThatOutOfService() {
        moment.owned(training("b"), "n-g2").owned(binding(job("a"), ofSeconds(30)), "n-g0");
        placed(SlotKnowledge.named(Optional.of("pod-b")), "n-g2");

        report(Outcome.BOUND, "a", "n-g0", on("n-g2", "n-g0", "pod-a"));

        assertThat(moment.owner("n-g2"))
                .isEqualTo(
                        new Owner.Quarantined(
                                "actuator agent-1 finds job a running on it, where job b was decided; stop what should not run there, then reset it"));
        assertThat(moment.owner("n-g0").isBinding()).isTrue();
    }

    @Test
    void aBindOnAnotherNodePutsThatUnitOutOfService() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0");

        report(Outcome.BOUND, "a", "n-g0", on("m-g0", "n-g0", "pod-a"));

        assertThat(moment.owner("m-g0").isQuarantined()).isTrue();
        assertThat(moment.owner("n-g0").isBinding()).isTrue();
    }

    @Test
    void evidenceOlderThanAnOwnerBindsASlot() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0").allocated("a", "n-g0");
        ActuationReport early = moment.report(EARLIER, Outcome.BOUND, job("a"), "n-g0");
        moment.later(ofSeconds(5)).owned(training("b"), "n-g2");
        placed(SLOT, "n-g2");

        report(early, on("n-g2", "n-g0", "pod-a"));

        assertOwners("a", "", "b", "");
        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.slot(Optional.of("pod-a")));
    }

    @Test
    void bindsThatTookEachOthersUnitsAreAllBound() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0", "n-g1").allocated("a", "n-g0", "n-g1");

        report(
                moment.report(EARLIER, Outcome.BOUND, job("a"), "n-g0", "n-g1"),
                on("n-g1", "n-g0", "pod-1"),
                on("n-g0", "n-g1", "pod-2"));

        assertOwners("a", "a", "", "");
        assertThat(moment.gpu("n-g0").user()).contains("pod-2");
        assertThat(moment.gpu("n-g1").user()).contains("pod-1");
        assertThat(moment.state().clusterIndex().gpus().unplaced()).isEmpty();
    }

    @Test
    void aReleaseUnderTheNameBeforeAnExchangeFreesTheUnitThatIsLeaving() {
        slot("b", "pod-b", "n-g0");
        moment.owned(releasing(job("a"), ofSeconds(90)), "n-g1");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertOwners("b", "", "", "");
        assertThat(moment.owner("n-g1").isFree()).isTrue();
    }

    @Test
    void aReleaseThatNoUnitOfTheTenantExpectsChangesNothing() {
        slot("b", "pod-b", "n-g0");
        slot("a", "pod-a", "n-g1");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-x"));

        assertOwners("b", "a", "", "");
    }

    @Test
    void aReleaseThatIsReportedTwiceFreesOneUnit() {
        moment.owned(releasing(job("a"), ofSeconds(90)), "n-g0", "n-g1");

        report(Outcome.RELEASED, "a", "n-g1", on("n-g0", "n-g1", "pod-a"));
        report(Outcome.RELEASED, "a", "n-g1", on("n-g0", "n-g1", "pod-a"));

        assertOwners("", "a", "", "");
    }

    @Test
    void aBindThatIsReportedTwiceBindsOneUnit() {
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g0", "n-g1");

        report(Outcome.BOUND, "a", "n-g0", unknown("n-g0", "pod-a"));
        report(Outcome.BOUND, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertThat(moment.owner("n-g0").isUp()).isTrue();
        assertThat(moment.owner("n-g1").isBinding()).isTrue();
    }

    /** The unit was seen with its user, so that the report is about it, however long it has had its owner. */
    @Test
    void aLateReportOfAUserThatHasGoneMovesTheTenant() {
        moment.owned(releasing(job("a"), ofSeconds(90)), "n-g0").allocated("a", "n-g1");
        ActuationReport late = moment.report(EARLIER, Outcome.RELEASED, job("a"), "n-g0");
        moment.later(ofSeconds(1)).owned(training("a"), "n-g1");
        placed(SlotKnowledge.named(Optional.of("pod-1")), "n-g1");

        report(late, unknown("n-g0", "pod-1"));

        assertThat(moment.owner("n-g1").isFree()).isTrue();
        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
        assertThat(moment.gpu("n-g0").isSlot()).isTrue();
    }

    @Test
    void anOlderReleaseDoesNotFreeAUnitOfANewerOne() {
        moment.owned(new Owner.Releasing(job("a"), decision(8), NOW.plusSeconds(45), NOW.plusSeconds(90)), "n-g1");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertThat(moment.owner("n-g1").isReleasing()).isTrue();
    }

    @Test
    void aControllerThatStopsAUnitOnAnotherNodeFreesThatAndTheTenantKeepsTheOther() {
        moment.owned(training("a"), "m-g0")
                .owned(releasing(job("a"), ofSeconds(90)), "n-g0")
                .allocated("a", "m-g0")
                .later(ofSeconds(1));

        report(Outcome.RELEASED, "a", "n-g0", on("m-g0", "n-g0", "pod-a"));

        assertThat(moment.owner("m-g0").isFree()).isTrue();
        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
        assertAllocated("a", "n-g0");
    }

    @Test
    void aUnitThatAControllerStopsAJobOnIsForeignIfAnIntruderStays() {
        moment.owned(training("a"), "m-g0")
                .owned(releasing(job("a"), ofSeconds(90)), "n-g0")
                .allocated("a", "m-g0")
                .later(ofSeconds(1))
                .sampled("m");
        intruderOn("m-g0");

        report(Outcome.RELEASED, "a", "n-g0", on("m-g0", "n-g0", "pod-a"));

        assertThat(moment.owner("m-g0").label()).isEqualTo("foreign");
        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
    }

    @Test
    void aUnitOfInferenceThatAControllerKeepsIsLentUntilItsReleaseWasDue() {
        moment.node("i", Pool.INFERENCE, 1)
                .owned(training("a"), "m-g0")
                .owned(releasing(job("a"), ofSeconds(90)), "i-g0")
                .allocated("a", "m-g0")
                .later(ofSeconds(1));

        report(Outcome.RELEASED, "a", "i-g0", on("m-g0", "i-g0", "pod-a"));

        assertThat(moment.owner("m-g0").isFree()).isTrue();
        assertThat(moment.owner("i-g0")).isEqualTo(lent("a", ofSeconds(0)));
    }

    @Test
    void aReplicaThatAControllerKeepsServesOn() {
        moment.node("i", Pool.INFERENCE, 1)
                .node("j", Pool.INFERENCE, 1)
                .service("chat", 1)
                .owned(serving("chat"), "j-g0")
                .owned(releasing(service("chat"), ofSeconds(90)), "i-g0")
                .later(ofSeconds(1));
        placed(SLOT, "i-g0");

        report(moment.report(EARLIER, Outcome.RELEASED, service("chat"), "i-g0"), on("j-g0", "i-g0", "pod-chat"));

        assertThat(moment.owner("j-g0").isFree()).isTrue();
        assertThat(moment.owner("i-g0")).isEqualTo(serving("chat"));
    }

    @Test
    void aControllerThatStopsAnotherUnitOfTheClassHasDoneWhatWasDecided() {
        slot("a", "pod-1", "n-g1");
        moment.owned(releasing(job("a"), ofSeconds(90)), "n-g0")
                .allocated("a", "n-g1")
                .later(ofSeconds(1));

        report(Outcome.RELEASED, "a", "n-g0", on("n-g1", "n-g0", "pod-1"));

        assertOwners("a", "", "", "");
        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
        assertAllocated("a", "n-g0");
    }

    @Test
    void aReleaseNamesTheUnitByTheUserThatHasGone() {
        moment.owned(training("a"), "n-g1")
                .owned(releasing(job("a"), ofSeconds(90)), "n-g0")
                .allocated("a", "n-g1")
                .later(ofSeconds(1));
        placed(SlotKnowledge.named(Optional.of("pod-1")), "n-g1");
        placed(SlotKnowledge.slot(Optional.of("pod-0")), "n-g0");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-1"));

        assertThat(moment.owner("n-g1").isFree()).isTrue();
        assertThat(moment.owner("n-g0")).isEqualTo(training("a"));
        assertThat(moment.gpu("n-g0").slot()).contains(SlotKnowledge.slot(Optional.of("pod-0")));
    }

    @Test
    void afterAReleaseOfAnUnknownUnitTheOthersOfTheTenantAreSlots() {
        moment.owned(training("a"), "n-g1").owned(releasing(job("a"), ofSeconds(90)), "n-g0");
        placed(SlotKnowledge.named(Optional.of("pod-1")), "n-g1");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-2"));

        assertThat(moment.owner("n-g0").isFree()).isTrue();
        assertThat(moment.gpu("n-g1").slot()).contains(SlotKnowledge.slot(Optional.of("pod-1")));
    }

    /** The tenant of the unit that was to be left runs on, so that this unit must not be free. */
    @Test
    void whereAUserMayHaveLeftAUnitOutOfServiceTheUnitOfAnotherUserIsOutOfServiceToo() {
        moment.owned(new Owner.Quarantined("its release was not reported"), "n-g1")
                .owned(releasing(job("a"), ofSeconds(90)), "n-g0");
        placed(SlotKnowledge.slot(Optional.of("pod-0")), "n-g0");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-1"));

        assertThat(moment.owner("n-g0").isQuarantined()).isTrue();
    }

    @Test
    void aUnitThatItsOwnUserLeavesIsFreeAlsoWhereAnotherIsOutOfService() {
        moment.owned(new Owner.Quarantined("its release was not reported"), "n-g1")
                .owned(releasing(job("a"), ofSeconds(90)), "n-g0");
        placed(SlotKnowledge.slot(Optional.of("pod-0")), "n-g0");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-0"));

        assertThat(moment.owner("n-g0").isFree()).isTrue();
    }

    @Test
    void aUserThatIsNotKnownLeavesTheUnitThatWasToBeLeftIfNoneIsOutOfService() {
        moment.owned(releasing(job("a"), ofSeconds(90)), "n-g0");
        placed(SlotKnowledge.slot(Optional.of("pod-0")), "n-g0");

        report(Outcome.RELEASED, "a", "n-g0", unknown("n-g0", "pod-1"));

        assertThat(moment.owner("n-g0").isFree()).isTrue();
    }

    @Test
    void aFailureAfterAnExchangeUndoesTheBindOfTheTenant() {
        slot("b", "pod-b", "n-g0");
        moment.owned(binding(job("a"), ofSeconds(30)), "n-g1");

        report(Outcome.FAILED, "a", "n-g0", unknown("n-g0", "pod-a"));

        assertOwners("b", "", "", "");
        assertThat(moment.gpu("n-g1").failedBinds()).isEqualTo(1);
    }

    @Test
    void renewalsNameTheJobsOnlyWhereADriverDoesNotChooseUnits() {
        Moment plain = new Moment().job("a", 1);

        assertThat(renewed(moment).jobs()).containsExactly(new JobId("a"));
        assertThat(renewed(plain).jobs()).isEmpty();
    }

    private static Action.Renew renewed(Moment some) {
        StepBuilder builder = some.node("i", Pool.INFERENCE, 1)
                .owned(lent("a", ofSeconds(60)), "i-g0")
                .after(ofSeconds(1));
        new Deadlines(builder, SchedulerSettings.DEFAULTS)
                .renew(gpus("i-g0"), builder.because(ReasonCode.LEASE, "test", Map.of(), List.of()));
        return builder.finished().decisions().get(0).action().asRenew().orElseThrow();
    }

    @Test
    void aReportWithoutPlacementsWhereDriversChooseUnitsIsTakenByName() {
        Moment plain = new Moment().node("n", Pool.TRAINING, 2).job("a", 2);
        plain.owned(binding(job("a"), ofSeconds(30)), "n-g1");

        plain.observe(plain.report(EARLIER, Outcome.BOUND, job("a"), "n-g0"));

        assertThat(plain.owner("n-g0").isQuarantined()).isTrue();
        assertThat(plain.owner("n-g1").isBinding()).isTrue();
    }
}
