package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.kills;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An actuator whose driver does not choose units matches names by count. */
class SlotMatchingTest {
    private final ActuatorFixture actuator = new ActuatorFixture(NodeDriver::new);

    /** A driver that chooses the node only, and whose events the test gives. */
    private record NodeDriver() implements ChangeDriver {
        @Override
        public boolean runs(Tenant tenant, Optional<TrainingJob> job) {
            return true;
        }

        @Override
        public Abilities abilities() {
            return Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE);
        }

        @Override
        public boolean batches() {
            return true;
        }
    }

    private static DriverEvent started(Tenant tenant, String unit, String user) {
        return new DriverEvent.Started(tenant, gpus(unit), List.of(unknown(unit, user)));
    }

    private static UnitPlacement unknown(String unit, String user) {
        return UnitPlacement.unknown(new GpuId(unit), Optional.of(user));
    }

    /** A loan of one GPU that is bound. */
    private DecisionId lent(double second, Tenant.Job job, double until, String gpu, String user) {
        String[] all = Stream.concat(
                        actuator.actuation().holdings().stream()
                                .filter(holding -> holding.tenant().equals(job))
                                .map(holding -> holding.gpu().value()),
                        Stream.of(gpu))
                .toArray(String[]::new);
        DecisionId decision = actuator.take(second, lend(job, until, gpus(gpu), all));
        actuator.done(second + 1, started(job, gpu, user));
        return decision;
    }

    @Test
    void aBindIsReportedWithItsUserAndNoUnit() {
        actuator.take(0, lend(BERT, 100, gpus("i1"), "i1"));

        List<ActuationReport> reports = actuator.done(1, started(BERT, "i1", "pod-1"));

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.outcome()).isEqualTo(Outcome.BOUND);
            assertThat(report.placements()).containsExactly(unknown("i1", "pod-1"));
        });
    }

    @Test
    void leasesGoWithTheHoldingsThatADecisionRenames() {
        lent(0, BERT, 100, "i1", "pod-1");
        lent(2, GPT, 200, "i2", "pod-2");

        actuator.take(10, resize(BERT, gpus(), "i2"));

        assertThat(actuator.holdings()).containsExactly("i1 gpt BOUND", "i2 bert BOUND");
        assertThat(actuator.loans()).containsExactly("i1 d/1/2 200", "i2 d/1/1 100");
        actuator.advance(100);
        assertThat(actuator.holdings()).containsExactly("i1 gpt BOUND", "i2 bert RELEASING");
    }

    @Test
    void aRenewalFindsTheLoansOfItsJobs() {
        lent(0, BERT, 100, "i1", "pod-1");
        lent(2, GPT, 200, "i2", "pod-2");

        actuator.take(10, new Action.Renew(gpus("i2"), ActuatorFixture.at(400), List.of(BERT.job())));

        assertThat(actuator.loans()).containsExactly("i1 d/1/2 200", "i2 d/1/1 400");
    }

    @Test
    void aHoldingMovesWhereItsNameIsToBeFree() {
        lent(0, BERT, 100, "i1", "pod-1");

        actuator.take(10, serve("i1"));

        assertThat(actuator.holdings()).containsExactly("i1 chat BINDING", "i2 bert BOUND");
        assertThat(actuator.loans()).containsExactly("i2 d/1/1 100");
    }

    /** The job and the replica on i3 and i4 have changed places since; another replica is on i1. */
    @Test
    void aReplicaOfSeveralUnitsTakesTheNamesOfADecisionAndNoOtherDoes() {
        ReplicaUnits one = new ReplicaUnits(new ReplicaId("one"), "tp1", ReplicaRole.ALL, gpus("i1"));
        ReplicaUnits two = new ReplicaUnits(new ReplicaId("two"), "tp2", ReplicaRole.ALL, gpus("i3", "i4"));
        actuator.take(0, new Action.Serve(CHAT.service(), gpus("i1", "i3", "i4"), false, List.of(one, two)));
        Stream.of("i1", "i3", "i4").forEach(unit -> actuator.done(1, started(CHAT, unit, "pod-" + unit)));
        lent(2, BERT, 100, "i2", "pod-i2");

        ReplicaUnits moved = new ReplicaUnits(two.replica(), "tp2", ReplicaRole.ALL, gpus("i2", "i4"));
        actuator.take(10, new Action.Idle(CHAT.service(), gpus("i2", "i4"), ActuatorFixture.at(40), List.of(moved)));

        assertThat(actuator.holdings())
                .containsExactly("i1 chat BOUND", "i2 chat RELEASING", "i3 bert BOUND", "i4 chat RELEASING");
        assertThat(actuator.actuation().holdings().get(1).replica()).contains(moved);
    }

    @Test
    void aLoanComesWithGpusOfTrainingThatHaveOtherTenantsByTheirOldNames() {
        actuator.take(0, resize(GPT, gpus("t1"), "t1"));
        actuator.done(1, started(GPT, "t1", "pod-1"));

        actuator.take(10, lend(BERT, 100, gpus("i1"), "i1", "t1"));

        assertThat(actuator.holdings()).containsExactly("i1 bert BINDING", "t1 bert BINDING", "t2 gpt BOUND");
    }

    @Test
    void aDecisionIsRefusedIfNoNameOfTheClassIsFree() {
        actuator.take(0, lend(BERT, 100, gpus("i1", "i2", "i3", "i4"), "i1", "i2", "i3", "i4"));

        actuator.take(10, serve("i1"));

        assertThat(actuator.log.get(actuator.log.size() - 1)).contains("REJECTED i1");
    }

    @Test
    void aStartUnderAnOlderNameIsReportedUnderThePresentOne() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.take(5, resize(BERT, gpus(), "t3"));

        List<ActuationReport> reports = actuator.done(6, started(BERT, "t1", "pod-1"));

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.gpus()).isEqualTo(gpus("t3"));
            assertThat(report.placements()).containsExactly(unknown("t3", "pod-1"));
        });
        assertThat(actuator.holdings()).containsExactly("t3 bert BOUND");
    }

    @Test
    void theUnitThatADevicePluginPickedIsNoStray() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));

        List<ActuationReport> reports = actuator.done(
                1,
                new DriverEvent.Started(
                        BERT,
                        gpus("t1"),
                        List.of(UnitPlacement.on(new GpuId("t4"), new GpuId("t1"), Optional.of("pod-1")))));

        assertThat(reports.get(0).placement(new GpuId("t1")).orElseThrow().unit())
                .contains(new GpuId("t4"));
        assertThat(kills(actuator.actuation().orders())).isEmpty();
    }

    @Test
    void whatRunsBeyondTheOrderedNumberIsKilledByItsUser() {
        DecisionId decision = lent(0, BERT, 100, "i1", "pod-1");
        actuator.actuation().orders();

        actuator.done(5, started(BERT, "i3", "pod-2"));

        assertThat(kills(actuator.actuation().orders()))
                .containsExactly(new Order.Force(decision, BERT, List.of(), List.of("pod-2")));
        actuator.done(6, new DriverEvent.Stopped(BERT, gpus("i3"), true, "", List.of(unknown("i3", "pod-2"))));
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
    }

    @Test
    void anEndThatIsReportedTwiceFreesOneUnit() {
        lent(0, BERT, 100, "i1", "pod-1");
        lent(2, BERT, 100, "i2", "pod-2");
        DriverEvent ended = new DriverEvent.Stopped(BERT, gpus("i2"), false, "", List.of(unknown("i2", "pod-2")));

        actuator.done(5, ended);
        List<ActuationReport> again = actuator.done(6, ended);

        assertThat(again).isEmpty();
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
    }

    @Test
    void aReleaseUnderAnOlderNameFreesTheUnitThatTheTenantIsToLeave() {
        actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.take(10, resize(BERT, gpus("t4"), "t3"));

        List<ActuationReport> reports = actuator.done(12, new DriverEvent.Stopped(BERT, gpus("t2"), false, ""));

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.outcome()).isEqualTo(Outcome.RELEASED);
            assertThat(report.gpus()).isEqualTo(gpus("t4"));
        });
        assertThat(actuator.holdings()).containsExactly("t3 bert BOUND");
    }

    @Test
    void aUnitThatAControllerStoppedInsteadIsReportedAndTheOtherIsKept() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.done(1, started(BERT, "t1", "pod-1"));
        actuator.take(2, lend(BERT, 100, gpus("i1"), "i1", "t1"));
        actuator.done(3, started(BERT, "i1", "pod-2"));
        actuator.take(10, reclaim(BERT, 55, gpus("i1"), "t1"));
        UnitPlacement gone = UnitPlacement.on(new GpuId("t1"), new GpuId("i1"), Optional.of("pod-1"));

        List<ActuationReport> reports =
                actuator.done(20, new DriverEvent.Stopped(BERT, gpus("i1"), false, "", List.of(gone)));

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.outcome()).isEqualTo(Outcome.RELEASED);
            assertThat(report.gpus()).isEqualTo(gpus("i1"));
            assertThat(report.placements()).containsExactly(gone);
        });
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
        assertThat(actuator.loans()).containsExactly("i1 d/1/2 100");
    }

    @Test
    void aUnitThatIsLeavingAlreadyIsTheOneThatADecisionTakesBack() {
        lent(0, BERT, 100, "i1", "pod-1");
        lent(2, BERT, 300, "i2", "pod-2");
        actuator.take(4, resize(BERT, gpus(), "i1", "i2"));
        actuator.advance(100);
        assertThat(actuator.holdings()).containsExactly("i1 bert RELEASING", "i2 bert BOUND");

        actuator.take(101, reclaim(BERT, 146, gpus("i3"), "i4"));

        assertThat(actuator.holdings()).containsExactly("i3 bert RELEASING", "i4 bert BOUND");
    }

    @Test
    void regularReportsNameTenantsThatHaveLeftAndLeaveOutThoseThatChange() {
        lent(0, BERT, 1000, "i1", "pod-1");
        lent(2, GPT, 1000, "i2", "pod-2");
        actuator.take(10, reclaim(BERT, 55, gpus("i1")));

        assertThat(actuator.actuation().stock())
                .filteredOn(report -> report.tenant().isPresent())
                .extracting(report -> report.tenant().orElseThrow())
                .containsExactly(GPT);

        actuator.done(20, new DriverEvent.Stopped(BERT, gpus("i1"), false, ""));
        assertThat(actuator.actuation().stock())
                .filteredOn(report -> report.tenant().filter(BERT::equals).isPresent())
                .singleElement()
                .satisfies(report -> assertThat(report.gpus()).isEmpty());
    }

    @Test
    void aDriverThatChoosesUnitsReportsNoPlacements() {
        ActuatorFixture usual = ActuatorFixture.driven();
        usual.take(0, serve("i1"));

        List<ActuationReport> reports = usual.done(1, new DriverEvent.Started(CHAT, gpus("i1")));

        assertThat(reports).allSatisfy(report -> assertThat(report.placements()).isEmpty());
        assertThat(usual.actuation().stock())
                .allSatisfy(report -> assertThat(report.placements()).isEmpty());
    }
}
