package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.operation.ActuatorDiagnosis.Liveness;
import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.schemas.topics.TopicState.Drift;
import io.lendstream.schemas.topics.TopicState.Presence;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    private static TopicState topic(String name, Presence presence, int replication, Drift... drifts) {
        return new TopicState(name, presence, 6, replication, Map.of(), List.of(drifts));
    }

    @Test
    void missingTopicsFailAndDifferentSettingsAreAWarning() {
        TopicState there = topic("a", Presence.PRESENT, 3);
        TopicState differs = topic("b", Presence.PRESENT, 3, new Drift("retention.ms", "1", "2"));

        assertThat(Diagnosis.topics(List.of(there)).line())
                .isEqualTo("ok   topics: all 1 exist with the right settings");
        assertThat(Diagnosis.topics(List.of(there, differs)).line())
                .isEqualTo(
                        "warn topics: b: retention.ms is 2, not 1; correct the settings with kafka-configs, or keep them on purpose");
        assertThat(Diagnosis.topics(List.of(differs, topic("c", Presence.MISSING, 0)))
                        .line())
                .isEqualTo("FAIL topics: 1 of 2 are missing: c; create them with 'lendstream topics create'");
    }

    @Test
    void recordsThatALostBrokerTakesAlongAreAWarning() {
        List<TopicState> safe = List.of(topic("a", Presence.PRESENT, 3));
        List<TopicState> single = List.of(topic("a", Presence.PRESENT, 1));

        assertThat(Diagnosis.replication(3, safe, name -> 2).level()).isEqualTo(Level.OK);
        assertThat(Diagnosis.replication(1, single, name -> 1).found()).contains("fewer than 3 copies, on 1 broker");
        assertThat(Diagnosis.replication(3, safe, name -> 1).found()).contains("may lose records");
        assertThat(Diagnosis.replication(3, safe, name -> 3).found()).contains("writes to a fail while one broker");
    }

    @Test
    void incompatibleSchemasFailAndAbsentOnesAreAWarning() {
        SubjectReport present =
                new SubjectReport("a-value", SubjectReport.Status.PRESENT, OptionalInt.of(1), List.of());
        SubjectReport absent =
                new SubjectReport("b-value", SubjectReport.Status.ABSENT, OptionalInt.empty(), List.of());
        SubjectReport bad = new SubjectReport(
                "c-value", SubjectReport.Status.INCOMPATIBLE, OptionalInt.empty(), List.of("a field went"));

        assertThat(Diagnosis.schemas(List.of(present)).level()).isEqualTo(Level.OK);
        assertThat(Diagnosis.schemas(List.of(present, absent)).level()).isEqualTo(Level.WARN);
        assertThat(Diagnosis.schemas(List.of(present, absent, bad)).line())
                .startsWith("FAIL schemas: c-value a field went");
    }

    private static Node inventory(String node, String boot, int second) {
        return new Node(
                new NodeId(node),
                EAST,
                Pool.INFERENCE,
                boot,
                NOW.plusSeconds(second),
                NodeStatus.READY,
                List.of(),
                Optional.empty());
    }

    @Test
    void aNodeWithTwoAgentsFailsAndARestartedAgentDoesNot() {
        List<Node> restarted = List.of(
                inventory("n1", "a", 0), inventory("n2", "x", 1), inventory("n1", "a", 30), inventory("n1", "b", 60));
        List<Node> twins = List.of(
                inventory("n1", "a", 0), inventory("n2", "x", 1), inventory("n1", "b", 10), inventory("n1", "a", 30));
        List<Node> over = List.of(
                inventory("n1", "a", 0),
                inventory("n1", "b", 10),
                inventory("n1", "a", 30),
                inventory("n1", "a", 1000));

        assertThat(Diagnosis.twins(restarted).line()).isEqualTo("ok   nodes: 2 nodes, one agent each");
        assertThat(Diagnosis.twins(twins).line())
                .isEqualTo(
                        "FAIL nodes: several agents report n1 at once; stop all but one, or give each its own name (agent.node)");
        assertThat(Diagnosis.twins(over).level()).as("ten minutes later").isEqualTo(Level.OK);
    }

    @Test
    void nothingToCheckIsAWarningThatNamesTheService() {
        assertThat(Diagnosis.twins(List.of()).line())
                .isEqualTo("warn nodes: no node reports; start 'lendstream agent' on the nodes");
        assertThat(Diagnosis.inventories(List.of()).line())
                .isEqualTo("warn inventory: no node reports its GPUs; start 'lendstream agent' on the nodes");
        assertThat(Diagnosis.quarantine(List.of(), new GpuNames()).line())
                .startsWith("warn gpus: no GPU has a lease; start 'lendstream agent' on the nodes; the scheduler");
        assertThat(Diagnosis.twins(List.of()).json().get("level").asText()).isEqualTo("warn");
    }

    @Test
    void servicesThatWaitForVirtualTimeDoNotFail() {
        Duration limit = Duration.ofSeconds(60);
        Finding agents = Diagnosis.heard("agents", "none yet", Optional.empty(), NOW, limit, Level.SILENT, "start one");
        List<Node> two = List.of(inventory("n1", "a", 0), inventory("n1", "b", 1), inventory("n1", "a", 2));
        Finding twins = Diagnosis.twins(two);

        assertThat(agents.whilePaused().line())
                .isEqualTo(
                        "warn agents: waiting for virtual time: none yet; begin it with 'lendstream load', or set time=wall if this is no accelerated run");
        assertThat(agents.isFailure()).isFalse();
        assertThat(Diagnosis.inventories(List.of()).whilePaused().found())
                .isEqualTo("waiting for virtual time: no node reports its GPUs");
        assertThat(twins.whilePaused()).as("it is a fault at any time").isEqualTo(twins);
        assertThat(twins.isFailure()).isTrue();
    }

    @Test
    void virtualTimeThatDoesNotAdvanceIsAWarning() {
        assertThat(Diagnosis.virtualTime(false, Optional.empty(), NOW).line())
                .startsWith(
                        "warn time: virtual time has not begun, and all services wait for it; begin it with 'lendstream load'");
        assertThat(Diagnosis.virtualTime(false, Optional.of(NOW), NOW).isOk())
                .as("progress of other services only")
                .isFalse();
        assertThat(Diagnosis.virtualTime(true, Optional.of(ago(61)), NOW).line())
                .startsWith("warn time: virtual time has not advanced for 1m1s, and all services wait for it;");
        assertThat(Diagnosis.virtualTime(true, Optional.of(ago(60)), NOW).line())
                .isEqualTo("ok   time: virtual time advances");
    }

    @Test
    void nodesWithProblemsAreNamedWithTheReasonOfTheirAgents() {
        List<Node> well = List.of(inventory("n1", NodeStatus.READY, ""), inventory("n2", NodeStatus.READY, ""));
        List<Node> ailing = List.of(
                inventory("n1", NodeStatus.UNAVAILABLE, "NVML cannot be loaded"),
                inventory("n2", NodeStatus.READY, "GPU 0 does not answer"),
                inventory("n3", NodeStatus.PAUSED, ""),
                inventory("n4", NodeStatus.READY, ""));

        assertThat(Diagnosis.inventories(well).line()).isEqualTo("ok   inventory: all 2 nodes are ready");
        assertThat(Diagnosis.inventories(ailing).line())
                .startsWith(
                        "warn inventory: 3 of 4 nodes have problems: n1 is unavailable (NVML cannot be loaded); n2 is ready (GPU 0 does not answer); n3 is paused; correct");
    }

    private static Node inventory(String name, NodeStatus status, String why) {
        return new Node(
                new NodeId(name),
                new DomainId("d"),
                Pool.INFERENCE,
                "boot",
                NOW,
                status,
                List.of(),
                Optional.empty(),
                1,
                why);
    }

    @Test
    void clocksMayDifferALittle() {
        Duration most = Duration.ofMinutes(5);

        assertThat(Diagnosis.clock(Duration.ofMillis(40), most).line())
                .isEqualTo("ok   clock: the broker's clock is 40ms ahead of this one");
        assertThat(Diagnosis.clock(Duration.ofSeconds(-3), most).line())
                .isEqualTo("warn clock: the broker's clock is 3s behind this one; synchronise both with NTP");
        assertThat(Diagnosis.clock(Duration.ofHours(1), most).isFailure()).isTrue();
    }

    private static Finding agents(Optional<Instant> newest, Level silent) {
        return Diagnosis.heard("agents", "none yet", newest, NOW, Duration.ofSeconds(60), silent, "start one");
    }

    @Test
    void aSilentWriterIsNamed() {
        assertThat(agents(Optional.of(NOW.minusSeconds(5)), Level.FAIL).line())
                .isEqualTo("ok   agents: last record 5s ago");
        assertThat(agents(Optional.of(NOW.minusSeconds(90)), Level.FAIL).line())
                .isEqualTo("FAIL agents: last record 1m30s ago, more than 1m; start one");
        assertThat(agents(Optional.empty(), Level.WARN).line()).isEqualTo("warn agents: none yet; start one");
    }

    @Test
    void agentsThatHaveJustBegunDoNotFail() {
        List<Instant> fresh = List.of(ago(5), ago(59));

        assertThat(Diagnosis.agents(Optional.empty(), fresh, NOW, Level.FAIL).line())
                .isEqualTo(
                        "warn agents: no agent has written telemetry yet; wait: the first inventory is less than a minute old");
        assertThat(Diagnosis.agents(Optional.empty(), List.of(ago(5), ago(61)), NOW, Level.FAIL)
                        .line())
                .isEqualTo("FAIL agents: no agent has written telemetry yet; start 'lendstream agent' on the nodes");
        assertThat(Diagnosis.agents(Optional.empty(), List.of(), NOW, Level.FAIL)
                        .isFailure())
                .isTrue();
        assertThat(Diagnosis.agents(Optional.of(ago(90)), fresh, NOW, Level.FAIL)
                        .line())
                .startsWith("FAIL agents: last record 1m30s ago, more than 1m; start ");
    }

    @Test
    void aSchedulerIsThereAndKeepsUp() {
        assertThat(Diagnosis.scheduler("g", 2, 10).level()).isEqualTo(Level.OK);
        assertThat(Diagnosis.scheduler("g", 2, 100_000).level()).isEqualTo(Level.WARN);
        assertThat(Diagnosis.scheduler("g", 0, 0).isFailure()).isTrue();
    }

    private static Finding actuators(List<Decision> decisions, Set<DecisionId> answered, Liveness liveness) {
        return ActuatorDiagnosis.actuators(decisions, answered, liveness, Decision::at, NOW);
    }

    @Test
    void overdueDecisionsFailButAdviceDoesNot() {
        Decision overdue = renewal(1, NOW.minusSeconds(61), false);
        Decision answered = renewal(2, NOW.minusSeconds(61), false);
        Decision fresh = renewal(3, NOW.plusSeconds(51), false);
        Decision advice = renewal(4, NOW.minusSeconds(61), true);

        assertThat(actuators(List.of(answered, fresh, advice), Set.of(answered.id()), Liveness.ALIVE)
                        .line())
                .isEqualTo("ok   actuators: 2 binding decisions in the last hour, none unanswered for more than 10s");
        assertThat(actuators(List.of(overdue, answered), Set.of(answered.id()), Liveness.ALIVE)
                        .line())
                .startsWith(
                        "FAIL actuators: 1 of 2 binding decisions of the last hour is overdue without an answer: east/1/1; operator of the actuator's machine: check that 'lendstream actuator' runs");
    }

    @Test
    void aDecisionThatWaitsForAnAnswerIsAWarningBeforeItIsOverdue() {
        Decision late = renewal(1, NOW.minusSeconds(59), false);
        Decision later = renewal(2, NOW.plusSeconds(49), false);
        Decision fresh = renewal(3, NOW.plusSeconds(51), false);
        List<Decision> all = List.of(late, later, fresh);

        assertThat(actuators(all, Set.of(late.id()), Liveness.ALIVE).line())
                .isEqualTo(
                        "warn actuators: 1 of 3 binding decisions of the last hour waits for an answer, for up to 11s, more than 10s: east/1/2; operator of the actuator's machine: check that 'lendstream actuator' runs and reaches the broker; if not, start it. 'lendstream doctor' fails 60 s after the decision's deadline");
        assertThat(actuators(all, Set.of(), Liveness.UNKNOWN).line())
                .startsWith(
                        "warn actuators: 2 of 3 binding decisions of the last hour wait for an answer, for up to 1m59s, more than 10s: east/1/1; east/1/2;");
        assertThat(actuators(all, Set.of(late.id(), later.id()), Liveness.ALIVE).isOk())
                .isTrue();
    }

    @Test
    void withoutALiveActuatorNothingIsFine() {
        Decision fresh = renewal(3, NOW.minusSeconds(59), false);

        assertThat(actuators(List.of(fresh), Set.of(), Liveness.SILENT).line())
                .startsWith(
                        "FAIL actuators: no actuator is alive to carry out 1 binding decision of the last hour; operator");
        assertThat(actuators(List.of(), Set.of(), Liveness.SILENT).line())
                .startsWith(
                        "warn actuators: no actuator is alive; no decision waits for one; operator of the actuator's machine");
        assertThat(actuators(List.of(), Set.of(), Liveness.ALIVE).line())
                .isEqualTo("ok   actuators: no decisions to carry out in the last hour");
    }

    @Test
    void anActuatorIsAliveIfItHasReportedWithinItsLimit() {
        Map<String, TreeSet<Instant>> often = Map.of("often", new TreeSet<>(List.of(ago(80), ago(70), ago(60))));

        assertThat(ActuatorDiagnosis.liveness(often, Map.of("often", ago(29)), true, NOW))
                .isEqualTo(Liveness.ALIVE);
        assertThat(ActuatorDiagnosis.liveness(often, Map.of("often", ago(31)), true, NOW))
                .isEqualTo(Liveness.SILENT);
        assertThat(ActuatorDiagnosis.liveness(often, Map.of("often", ago(31), "new", ago(1)), true, NOW))
                .isEqualTo(Liveness.ALIVE);
        assertThat(ActuatorDiagnosis.liveness(Map.of(), Map.of("removed", ago(90_000)), false, NOW))
                .isEqualTo(Liveness.SILENT);
    }

    @Test
    void anActuatorWithoutADecisionIsNotKnownAndNotDead() {
        Decision fresh = renewal(1, NOW.plusSeconds(55), false);

        assertThat(ActuatorDiagnosis.liveness(Map.of(), Map.of(), false, NOW)).isEqualTo(Liveness.UNKNOWN);
        assertThat(ActuatorDiagnosis.liveness(Map.of(), Map.of(), true, NOW)).isEqualTo(Liveness.SILENT);
        assertThat(ActuatorDiagnosis.alive(Map.of(), Map.of(), false, NOW).line())
                .isEqualTo("ok   actuator: none is known yet; actuators report after the first decision");
        assertThat(ActuatorDiagnosis.alive(Map.of(), Map.of(), true, NOW).line())
                .startsWith("warn actuator: none has reported in the last day; start");
        assertThat(actuators(List.of(), Set.of(), Liveness.UNKNOWN).line())
                .isEqualTo("ok   actuators: no decisions to carry out in the last hour");
        assertThat(actuators(List.of(fresh), Set.of(), Liveness.UNKNOWN).line())
                .isEqualTo("ok   actuators: 1 binding decision in the last hour, none unanswered for more than 10s");
    }

    @Test
    void aDecisionMustHaveAReportAMinuteAfterItIsMade() {
        assertThat(ActuatorDiagnosis.isReportDue(renewal(1, NOW.minusSeconds(1), false), NOW))
                .isTrue();
        assertThat(ActuatorDiagnosis.isReportDue(renewal(1, NOW, false), NOW)).isFalse();
        assertThat(ActuatorDiagnosis.isReportDue(renewal(1, NOW.minusSeconds(1), true), NOW))
                .as("actuators do not carry out advice")
                .isFalse();
    }

    @Test
    void quarantinedGpusAreNamedWithTheirReason() {
        Lease lease = new Lease(
                new GpuId("g0"),
                new NodeId("n"),
                EAST,
                Pool.INFERENCE,
                new Owner.Quarantined("XID 79"),
                1,
                1,
                NOW,
                Optional.empty());

        assertThat(Diagnosis.quarantine(List.of(lease), new GpuNames()).line())
                .isEqualTo(
                        "warn gpus: 1 of 1 are quarantined: g0, quarantined: XID 79; repair them, then run 'lendstream reset GPU'");
    }

    @Test
    void foreignGpusAreNamedWithTheirUsersAndWarnedOfIfTheseAreNotKnown() {
        assertThat(Diagnosis.foreign(List.of(owned(new Owner.Free())), new GpuNames())
                        .line())
                .isEqualTo("ok   foreign: no GPU is foreign");
        assertThat(Diagnosis.foreign(
                                List.of(owned(new Owner.Quarantined(ForeignUse.by(List.of("slurm/7"))))),
                                new GpuNames())
                        .line())
                .isEqualTo(
                        "ok   foreign: 1 of 1 are foreign: g0, foreign: used by slurm/7, which Lendstream did not place; it is free a while after they have gone");
        assertThat(Diagnosis.foreign(List.of(owned(new Owner.Quarantined(ForeignUse.UNKNOWN))), new GpuNames())
                        .line())
                .startsWith(
                        "warn foreign: 1 of 1 are foreign: g0, foreign: it is not known yet whether something uses it; it is free once an agent reports it as unused; check 'users'");
        assertThat(Diagnosis.quarantine(List.of(owned(new Owner.Quarantined(ForeignUse.UNKNOWN))), new GpuNames())
                        .line())
                .isEqualTo("ok   gpus: none of 1 is quarantined");
    }

    @Test
    void foreignGpusThatMayHaveTheirLastTenantAreWarnedOf() {
        ForeignUse use = ForeignUse.by(List.of("kubernetes/ml/p/c"));
        Lease late = owned(new Owner.Quarantined(use.inWords() + "; seen soon", Optional.of(use), Optional.empty()));

        assertThat(Diagnosis.foreign(List.of(late), new GpuNames()).line())
                .startsWith("warn foreign: 1 of 1 are foreign: g0")
                .contains("perhaps a tenant outlived its release: g0: used by kubernetes/ml/p/c, which Lendstream did "
                        + "not place; seen soon");
        Overview overview = new Overview();
        overview.tell(late);
        assertThat(overview.alarms(NOW)).containsExactly("g0: " + use.inWords() + "; seen soon");
    }

    private static Lease owned(Owner owner) {
        return new Lease(new GpuId("g0"), new NodeId("n"), EAST, Pool.INFERENCE, owner, 1, 1, NOW, Optional.empty());
    }

    @Test
    void anOldJavaFails() {
        assertThat(Diagnosis.java(17, "Java 17").level()).isEqualTo(Level.OK);
        assertThat(Diagnosis.java(11, "Java 11").isFailure()).isTrue();
    }

    private static Decision renewal(long sequence, Instant deadline, boolean advisory) {
        return new Decision(
                new DecisionId(EAST, 1, sequence),
                deadline.minusSeconds(60),
                deadline,
                advisory,
                new Reason("lease", "", Map.of(), List.of(1L)),
                new Action.Renew(List.of(new GpuId("g0")), deadline));
    }

    @Test
    void aClockThatIsAheadFailsAndOneThatIsBehindIsAWarning() {
        Clocks.Stamp right = stamp("/lendstream/actuator/east", 0, 0);
        Clocks.Stamp waited = stamp("/lendstream/actuator/east", -300, 0);
        Clocks.Stamp ahead = stamp("/lendstream/agent/n1", 7, -20);
        Clocks.Stamp behind = stamp("/lendstream/scheduler", -600, 0);
        Clocks.Stamp before = stamp("/lendstream/agent/n2", 900, -3600);

        assertThat(Diagnosis.clocks(Clocks.ahead(List.of(right, waited, before)))
                        .line())
                .isEqualTo("ok   clocks: the clocks of 1 service are within 5s of the broker's");
        assertThat(Diagnosis.clocks(Clocks.ahead(List.of(right, behind))).line())
                .startsWith("warn clocks: /lendstream/scheduler is 10m behind the broker;");
        assertThat(Diagnosis.clocks(Clocks.ahead(List.of(right, ahead, behind))).line())
                .startsWith(
                        "FAIL clocks: /lendstream/agent/n1 is 27s ahead of the broker; /lendstream/scheduler is 10m behind");
        assertThat(Diagnosis.clocks(Map.of()).level()).isEqualTo(Level.OK);
    }

    /** A stamp, in seconds from noon by the writer's clock and by the broker's. */
    private static Clocks.Stamp stamp(String source, int made, int appended) {
        return new Clocks.Stamp(source, NOW.plusSeconds(made), NOW.plusSeconds(appended));
    }

    @Test
    void anActuatorThatHasMissedThreeStocksFails() {
        Map<String, TreeSet<Instant>> stocks = Map.of(
                "often", new TreeSet<>(List.of(ago(80), ago(70), ago(60), ago(50))),
                "usual", new TreeSet<>(List.of(ago(100))));

        assertThat(ActuatorDiagnosis.alive(stocks, Map.of("often", ago(20), "usual", ago(100)), true, NOW)
                        .line())
                .isEqualTo("ok   actuator: all 2 report; oldest last report 1m40s ago");
        assertThat(ActuatorDiagnosis.alive(stocks, Map.of("often", ago(50), "usual", ago(100)), true, NOW)
                        .line())
                .startsWith(
                        "FAIL actuator: often has reported nothing for 50s, more than 30s; operator of the actuator's machine");
        assertThat(ActuatorDiagnosis.alive(stocks, Map.of("often", ago(25), "usual", ago(100)), true, NOW)
                        .line())
                .startsWith(
                        "warn actuator: often has reported nothing for 25s, more than 20s; operator of the actuator's machine");
        assertThat(ActuatorDiagnosis.alive(Map.of(), Map.of("removed", ago(90_000)), true, NOW)
                        .line())
                .startsWith("warn actuator: none has reported in the last day; start");
    }

    @Test
    void anActuatorThatReportsSeldomIsNotDead() {
        TreeSet<Instant> seldom = new TreeSet<>(List.of(ago(2000), ago(1400), ago(800)));

        assertThat(ActuatorDiagnosis.alive(Map.of("seldom", seldom), Map.of("seldom", ago(800)), true, NOW)
                        .line())
                .isEqualTo("ok   actuator: all 1 report; last report 13m20s ago");
        assertThat(ActuatorDiagnosis.alive(Map.of(), Map.of("new", ago(181)), true, NOW)
                        .line())
                .as("its interval is not known yet")
                .startsWith("warn actuator: new has reported nothing for 3m1s, more than 3m; check that it runs; if");
        assertThat(ActuatorDiagnosis.liveness(Map.of(), Map.of("new", ago(181)), true, NOW))
                .isEqualTo(Liveness.ALIVE);
    }

    private static Instant ago(int seconds) {
        return NOW.minusSeconds(seconds);
    }
}
