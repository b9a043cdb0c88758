package io.lendstream.core.history;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tenants on slots of a node of two GPUs. */
class SlotTenancyTest {
    private final ClusterState state =
            Scenario.of("deepboot").node("n", Pool.TRAINING, 2).state();
    private final Violations violations = new Violations();
    private final SlotTenancy rule = new SlotTenancy(violations);
    private int second;

    private static DecisionId decision(long sequence) {
        return new DecisionId(Scenario.DOMAIN, 1, sequence);
    }

    private static Tenant job(String name) {
        return new Tenant.Job(new JobId(name));
    }

    private ActuationReport report(Outcome outcome, String job, UnitPlacement... placements) {
        Instant at = Scenario.START.plusSeconds(++second);
        return new ActuationReport(
                Scenario.DOMAIN,
                decision(second),
                "test",
                at,
                outcome,
                Arrays.stream(placements).map(UnitPlacement::named).toList(),
                Optional.of(job(job)),
                Timings.NONE,
                "",
                List.of(placements));
    }

    private void take(Outcome outcome, String job, UnitPlacement... placements) {
        rule.reported(report(outcome, job, placements), state);
    }

    private static UnitPlacement slot(String name) {
        return UnitPlacement.unknown(new GpuId(name), Optional.empty());
    }

    private static UnitPlacement on(String unit, String name) {
        return UnitPlacement.on(new GpuId(unit), new GpuId(name), Optional.empty());
    }

    private void decideToServe(String gpu) {
        Instant at = Scenario.START.plusSeconds(++second);
        Action serve = new Action.Serve(new ServiceId("chat"), List.of(new GpuId(gpu)), false);
        rule.decided(
                new Decision(decision(second), at, at, false, new Reason("test", "", Map.of(), List.of()), serve),
                state);
    }

    /** The names of two units were exchanged between the start and the end. */
    @Test
    void aStartThatIsReportedAfterItsEndUnderAnotherNameIsOver() {
        ActuationReport start = report(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.RELEASED, "a", slot("n-g1"));
        take(Outcome.BOUND, "b", slot("n-g0"));
        take(Outcome.BOUND, "b", slot("n-g1"));

        rule.reported(start, state);

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void anEndHidesOneStartBeforeIt() {
        ActuationReport one = report(Outcome.BOUND, "a", slot("n-g0"));
        ActuationReport other = report(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.RELEASED, "a", slot("n-g1"));
        take(Outcome.BOUND, "b", slot("n-g0"));
        take(Outcome.BOUND, "b", slot("n-g1"));

        rule.reported(one, state);
        rule.reported(other, state);

        assertThat(violations.found()).hasSize(1);
    }

    @Test
    void asManyTenantsAsUnitsAreSoundWhateverTheirNames() {
        take(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.BOUND, "b", slot("n-g0"));

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void moreTenantsThanUnitsAreAViolation() {
        take(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.BOUND, "b", slot("n-g1"));
        take(Outcome.BOUND, "c", slot("n-g1"));

        assertThat(violations.found())
                .extracting(Violation::text)
                .containsExactly(
                        "job c was bound on node n at 2026-01-01T00:00:03Z while tenants ran on all 2 units of its kind there");
    }

    @Test
    void aReleaseUnderAnotherNameCounts() {
        take(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.BOUND, "b", slot("n-g1"));
        take(Outcome.RELEASED, "a", slot("n-g1"));
        take(Outcome.BOUND, "c", slot("n-g0"));

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void oneUnitWithTwoNamedTenantsIsAViolation() {
        take(Outcome.BOUND, "a", on("n-g1", "n-g0"));
        take(Outcome.BOUND, "b", on("n-g1", "n-g1"));

        assertThat(violations.found()).hasSize(1);
        assertThat(violations.found().get(0).text()).startsWith("n-g1 was bound to job b");
    }

    @Test
    void afterAReleaseOfAnUnknownUnitNoUnitOfTheTenantIsNamed() {
        take(Outcome.BOUND, "a", on("n-g0", "n-g0"));
        take(Outcome.BOUND, "a", on("n-g1", "n-g1"));
        take(Outcome.RELEASED, "a", slot("n-g0"));
        take(Outcome.BOUND, "b", on("n-g1", "n-g0"));

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void aReportThatArrivesTwiceCountsOnce() {
        ActuationReport bound = report(Outcome.BOUND, "a", slot("n-g0"));
        rule.reported(bound, state);
        rule.reported(bound, state);
        take(Outcome.BOUND, "b", slot("n-g1"));

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void aRegularReportOfFewerUnitsEndsTheOthers() {
        take(Outcome.BOUND, "a", slot("n-g0"));
        take(Outcome.BOUND, "a", slot("n-g1"));
        take(Outcome.HOLDS, "a", slot("n-g1"));
        take(Outcome.BOUND, "b", slot("n-g0"));

        assertThat(violations.found()).isEmpty();
    }

    @Test
    void aDecisionBindsOnlyAsManyAsAreFree() {
        take(Outcome.BOUND, "a", slot("n-g0"));
        decideToServe("n-g0");
        assertThat(violations.found()).isEmpty();

        take(Outcome.BOUND, "b", slot("n-g1"));
        decideToServe("n-g0");

        assertThat(violations.found())
                .extracting(Violation::text)
                .containsExactly("decision test/1/4 binds 1 unit of node n, where tenants still run on 2 of 2");
    }

    /** A node was lost with what ran there, and a job is being bound when the operator resets its units. */
    @Test
    void aResetEndsWhatRanBeforeThoughItsTenantIsBeingBoundAgain() {
        Scenario story = Scenario.of("deepboot").node("n", Pool.TRAINING, 2);
        ClusterState binding =
                story.tell(story.jobRecord("a", 2, false)).after(ofSeconds(61)).state();
        List<GpuState> units = binding.gpus().stream().toList();
        assertThat(units).allMatch(unit -> unit.owner().isBinding() && unit.isHeldBy(job("a")));
        UnitPlacement[] slots =
                units.stream().map(unit -> slot(unit.gpuId().value())).toArray(UnitPlacement[]::new);
        rule.reported(report(Outcome.BOUND, "a", slots), binding);

        units.forEach(unit -> rule.reset(unit.gpuId(), binding));
        rule.reported(report(Outcome.BOUND, "a", slots), binding);

        assertThat(violations.found()).isEmpty();
    }

    /** A report from before the node left came late. */
    @Test
    void tenantsOfUnitsThatAreGoneDoNotCount() {
        TenancyRule units = new TenancyRule(violations);
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        units.before(event(report(Outcome.BOUND, "a", slot("n-g0"))), state);
        DomainEvent left = event(new NodeLeft(new NodeId("n"), Scenario.DOMAIN, Scenario.START));
        units.before(left, state);
        units.settled(new ReplayedEvent(left, scheduler, scheduler.step(state, left)));
        ClusterState back = Scenario.of("deepboot").node("n", Pool.TRAINING, 1).state();

        units.before(event(report(Outcome.BOUND, "b", slot("n-g0"))), back);

        assertThat(violations.found()).isEmpty();
    }

    private DomainEvent event(Event event) {
        return new DomainEvent(
                Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, Scenario.START, Optional.empty(), event);
    }
}
