package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.binding;
import static io.lendstream.core.scheduler.Moment.job;
import static io.lendstream.core.scheduler.Moment.training;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import org.junit.jupiter.api.Test;

/** Regular reports of an actuator whose driver does not choose units. */
class SlotCountsTest extends SlotFixture {
    @Test
    void regularReportsCompareCountsAndNotNames() {
        slot("a", "pod-a", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));

        report(Outcome.HOLDS, "a", "n-g3", unknown("n-g3", "pod-a"));

        assertOwners("a", "", "", "");
        assertThat(moment.gpu("n-g3").isFree()).isTrue();
    }

    @Test
    void ofTooManyUnitsTheLastSlotIsFree() {
        slot("a", "pod-1", "n-g0");
        slot("a", "pod-2", "n-g1");
        moment.allocated("a", "n-g0", "n-g1").later(ofSeconds(1));

        report(Outcome.HOLDS, "a", "n-g1", unknown("n-g1", "pod-1"));

        assertOwners("a", "", "", "");
    }

    @Test
    void aTenantThatHasNothingLosesItsSlots() {
        slot("a", "pod-1", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));

        moment.observe(moment.report(EARLIER, Outcome.HOLDS, job("a")));

        assertOwners("", "", "", "");
    }

    @Test
    void aSlotOnWhichAnIntruderStaysIsForeignOnceItsTenantIsFoundToHaveLeft() {
        slot("a", "pod-1", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1)).sampled("n");
        intruderOn("n-g0");

        moment.observe(moment.report(EARLIER, Outcome.HOLDS, job("a")));

        assertThat(moment.owner("n-g0").label()).isEqualTo("foreign");
    }

    @Test
    void onlyTheActuatorThatBoundAUnitCanReportThatItIsLeft() {
        slot("a", "pod-1", "n-g0");
        moment.set(builder -> builder.put(builder.gpu(new GpuId("n-g0")).boundBy("another")))
                .allocated("a", "n-g0")
                .later(ofSeconds(1));

        moment.observe(moment.report(EARLIER, Outcome.HOLDS, job("a")));

        assertOwners("a", "", "", "");
    }

    @Test
    void ofUnitsThatWereNotDecidedAsManyFreeOnesGoOutOfService() {
        slot("a", "pod-1", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));

        report(
                moment.report(EARLIER, Outcome.HOLDS, job("a"), "n-g0", "n-g3"),
                unknown("n-g0", "pod-1"),
                unknown("n-g3", "pod-2"));

        assertOwners("a", "", "", "");
        assertThat(moment.owner("n-g1").isQuarantined()).isTrue();
        assertThat(moment.owner("n-g2").isFree()).isTrue();
    }

    @Test
    void theSameFindInTheNextReportPutsNoFurtherUnitOutOfService() {
        slot("a", "pod-1", "n-g0");
        moment.allocated("a", "n-g0").later(ofSeconds(1));
        for (int reports = 0; reports < 3; reports++) {
            report(
                    moment.report(EARLIER, Outcome.HOLDS, job("a"), "n-g0", "n-g3"),
                    unknown("n-g0", "pod-1"),
                    unknown("n-g3", "pod-2"));
            moment.later(ofSeconds(1));
        }

        assertThat(moment.owner("n-g1").isQuarantined()).isTrue();
        assertThat(moment.owner("n-g2").isFree()).isTrue();
        assertThat(moment.owner("n-g3").isFree()).isTrue();
    }

    @Test
    void regularReportsSkipClassesInTransferOrWithNewerOwners() {
        slot("a", "pod-1", "n-g0");
        moment.allocated("a", "n-g0");
        ActuationReport old = moment.report(EARLIER, Outcome.HOLDS, job("a"));
        moment.later(ofSeconds(1)).owned(training("b"), "n-g1");

        moment.observe(old);
        assertOwners("a", "b", "", "");

        moment.later(ofSeconds(1))
                .owned(binding(job("b"), ofSeconds(30)), "n-g2")
                .later(ofSeconds(1));
        moment.observe(moment.report(EARLIER, Outcome.HOLDS, job("a")));
        assertOwners("a", "b", "b", "");
    }
}
