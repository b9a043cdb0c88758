package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests that wait come before expected ones also where replicas have several GPUs. A rate of 8 requests/s needs one
 * GPU: a replica of one GPU answers 10, and one of two 20, of which 85 % is planned.
 */
class GroupWaitsTest extends WaitingStory {
    private static final ReplicaShape PAIR = ReplicaShape.of("pair", 2, 1, 20, ofSeconds(8));

    private static Scenario nodes(Map<String, String> settings, int... gpus) {
        Scenario begun = new Scenario(new Scheduler(Policies.parse("lendstream"), SchedulerSettings.of(settings)));
        for (int i = 0; i < gpus.length; i++) {
            begun.node("infer-" + (char) ('a' + i), Pool.INFERENCE, gpus[i]);
        }
        return begun.actuator("one", Abilities.USUAL);
    }

    private void grouped(String name, int floor, ReplicaShape... shapes) {
        story.tell(story.serviceRecord(name, floor).inShapes(List.of(shapes))).settled();
    }

    private long promised(String service) {
        Tenant tenant = new Tenant.Service(new ServiceId(service));
        return story.state().promises().stream()
                .map(Promise::tenant)
                .filter(tenant::equals)
                .count();
    }

    /** Single GPUs of "embed", which needs one of them now, on nodes of some sizes; and "llm", in pairs, without load. */
    private void embedHoldsAllBeside(Map<String, String> settings, int... gpus) {
        story = nodes(settings, gpus).service("embed", 0).settled();
        grouped("llm", 0, PAIR);
        load("embed", 1, 4).load("llm", 0, 0).windows(6);
        assertThat(serving("embed")).isEqualTo(4);
    }

    @Test
    void replicasThatOnlyExpectedRequestsNeedMakeWayForAWholeReplica() {
        embedHoldsAllBeside(ON, 4);

        load("llm", 2, 2).windows(1);

        assertThat(stops()).singleElement().satisfies(stop -> {
            assertThat(stop.reason().text())
                    .isEqualTo("embed stops 2 replicas for requests of llm that wait, on 2 GPUs, and keeps 1 for its"
                            + " present load; llm is short of 1 x pair (2 GPUs)");
            assertThat(stop.reason().numbers())
                    .containsEntry("idled", 2.0)
                    .containsEntry("kept", 1.0)
                    .containsEntry("requestsPerSecond", 16.0);
        });
        assertThat(serving("llm")).isEqualTo(2);
        assertThat(serving("embed")).isEqualTo(2);
        windows(40);
        assertThat(stops()).as("nothing is taken back and forth").hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void withoutTheSettingExpectedRequestsKeepTheirs() {
        embedHoldsAllBeside(Map.of(), 4);

        load("llm", 2, 2).windows(8);

        assertThat(serving("llm")).isZero();
        assertThat(stops()).isEmpty();
    }

    @Test
    void whatMakesUpNoWholeReplicaIsNotStopped() {
        embedHoldsAllBeside(ON, 1, 1, 1, 1);

        load("llm", 2, 2).windows(8);

        assertThat(stops()).isEmpty();
        assertThat(serving("embed")).isEqualTo(4);
    }

    @Test
    void theOtherKeepsWhatItsLoadNeedsAndNeededLately() {
        embedHoldsAllBeside(ON, 4);
        load("embed", 3, 4).windows(2);

        load("embed", 1, 4).load("llm", 2, 2).windows(2);
        assertThat(stops()).as("30 s after it needed 3").isEmpty();

        windows(8);
        assertThat(serving("llm")).isEqualTo(2);
        assertThat(serving("embed")).isEqualTo(2);
    }

    /** Two pairs of "llm", which needs one of them now; and "chat", of single GPUs, without load. */
    private void llmHoldsAll(int floor) {
        story = nodes(ON, 4).service("chat", 0).settled();
        grouped("llm", floor, PAIR);
        load("llm", 2, 4).load("chat", 0, 0).windows(6);
        assertThat(serving("llm")).isEqualTo(4);
    }

    @Test
    void aWholeReplicaMakesWayForOneOfASingleGpu() {
        llmHoldsAll(0);

        load("chat", 1, 1).windows(1);

        assertThat(stops()).singleElement().satisfies(stop -> {
            assertThat(stop.action().asIdle().orElseThrow().replicas())
                    .singleElement()
                    .satisfies(replica -> assertThat(replica.units()).hasSize(2));
            assertThat(stop.reason().text())
                    .isEqualTo("llm stops 1 replica for requests of chat that wait, on 2 GPUs, and keeps 1 for its"
                            + " present load; chat is short of 1 replica");
        });
        windows(1);
        assertThat(serving("chat")).isEqualTo(1);
        assertThat(serving("llm")).isEqualTo(2);
        windows(40);
        assertThat(stops()).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aFloorOfReplicasIsKept() {
        llmHoldsAll(2);

        load("chat", 1, 1).windows(8);

        assertThat(stops()).isEmpty();
        assertThat(serving("llm")).isEqualTo(4);
    }

    @Test
    void aRoleKeepsItsOwnFloor() {
        story = nodes(ON, 4).service("chat", 0).settled();
        ReplicaShape in = ReplicaShape.of("in", 1, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL);
        ReplicaShape out = ReplicaShape.of("out", 1, 1, 10, ofSeconds(8)).as(ReplicaRole.DECODE);
        story.tell(story.serviceRecord("llm", 0)
                        .inShapes(List.of(in, out))
                        .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 2))))
                .settled();
        load("llm", 1, 2).load("chat", 0, 0).windows(6);
        assertThat(serving("llm")).isEqualTo(3);

        load("chat", 2, 2).windows(8);

        assertThat(serving("chat")).as("one GPU was free").isEqualTo(1);
        assertThat(serving("llm")).isEqualTo(3);
    }

    @Test
    void pairsMakeWayForAPairOfAnotherService() {
        story = nodes(ON, 4);
        grouped("llm", 0, PAIR);
        grouped("vision", 0, PAIR);
        load("llm", 1, 4).load("vision", 0, 0).windows(6);
        assertThat(serving("llm")).isEqualTo(4);

        load("vision", 2, 2).windows(2);

        assertThat(serving("vision")).isEqualTo(2);
        assertThat(serving("llm")).isEqualTo(2);
        windows(40);
        assertThat(stops()).hasSize(1);
    }

    /** Of three new GPUs. Requests that wait for single GPUs come before those for pairs. */
    @ParameterizedTest
    @CsvSource({"0, 2, 1", "2, 0, 3"})
    void freeGpusGoToRequestsThatWaitBeforeExpectedOnes(int waiting, int pair, int single) {
        story = nodes(ON).service("aaa", 0).settled();
        grouped("llm", 0, PAIR);
        load("aaa", waiting, 4).load("llm", 2, 2).windows(1);

        story.node("more", Pool.INFERENCE, 3).settled();

        assertThat(serving("llm")).isEqualTo(pair);
        assertThat(serving("aaa")).isEqualTo(single);
    }

    @Test
    void aPromisedPairIsNotTakenByExpectedRequests() {
        embedHoldsAllBeside(ON, 4);
        load("llm", 2, 2);
        story.after(ofSeconds(15)).settled().rate("llm", 16);
        Decision stop = stops().get(0);
        assertThat(promised("llm")).isEqualTo(2);
        story.rate("embed", 8).rate("llm", 16);

        assertThat(promised("llm")).isEqualTo(2);
        assertThat(stops())
                .as("nothing more is stopped while these are released")
                .containsExactly(stop);
        Tenant embed = new Tenant.Service(new ServiceId("embed"));
        story.tell(story.report(stop.id(), Outcome.RELEASED, stop.action().gpus(), Optional.of(embed)))
                .settled();
        assertThat(serving("llm")).isEqualTo(2);
    }

    @Test
    void aReplicaThatBeganAShortTimeAgoIsNotStopped() {
        story = nodes(ON, 4).service("chat", 0).settled();
        grouped("llm", 0, PAIR);
        load("llm", 2, 4).load("chat", 0, 0).windows(2);
        assertThat(serving("llm")).isEqualTo(4);

        load("chat", 1, 1).windows(1);
        assertThat(stops()).isEmpty();

        windows(5);
        assertThat(stops()).hasSize(1);
    }

    /** "embed" uses two GPUs beyond the nominal quota of its queue, which no other service of the cohort asks for. */
    @Test
    void aQueueGivesWhatItBorrows() {
        story = nodes(ON, 4)
                .queue("one", Optional.of("all"), KindQuota.of(Optional.empty(), 2))
                .queue("other", Optional.of("all"), KindQuota.of(Optional.empty(), 2))
                .service("embed", 0, "one")
                .service("chat", 0)
                .settled();
        load("embed", 1, 4).load("chat", 0, 0).windows(6);
        assertThat(serving("embed")).isEqualTo(4);

        load("chat", 3, 3).windows(8);

        assertThat(serving("chat")).isEqualTo(2);
        assertThat(serving("embed")).as("its nominal quota").isEqualTo(2);
        windows(40);
        assertThat(stops()).hasSize(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    private List<Decision> holds() {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals("hold"))
                .toList();
    }

    @Test
    void aQueueThatRefusesReplicasSaysSoOnceWhileAPairIsWaitedFor() {
        story = nodes(ON, 1).queue("team", 1).service("chat", 0, "team").settled();
        grouped("llm", 0, PAIR);

        load("chat", 2, 4).load("llm", 2, 2).windows(20);

        assertThat(serving("chat")).isEqualTo(1);
        assertThat(holds())
                .filteredOn(hold -> hold.reason().is(ReasonCode.QUOTA))
                .hasSizeLessThanOrEqualTo(2);
    }

    @Test
    void aStepSaysOnceThatNeedsExceedTheGpus() {
        story = nodes(ON, 4).service("chat", 0).service("embed", 0).settled();
        grouped("llm", 0, PAIR);
        load("embed", 4, 4).load("chat", 0, 0).load("llm", 2, 2).windows(6);

        load("chat", 4, 4).windows(6);

        assertThat(holds())
                .filteredOn(hold -> hold.reason().is(ReasonCode.WAITING))
                .hasSize(1);
    }

    @Test
    void aServiceWhoseRatesAreLateGivesNothing() {
        llmHoldsAll(0);
        load.remove("llm");
        story.after(Duration.ofMinutes(3)).settled();

        load("chat", 1, 1).windows(4);

        assertThat(stops()).isEmpty();
    }
}
