package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReplicaOriginsTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final GpuId ONE = new GpuId("one");
    private static final GpuId TWO = new GpuId("two");
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private final ReplicaOrigins replicas = new ReplicaOrigins(CHAT);

    private void owned(GpuId gpu, Owner owner) {
        replicas.take(
                new Lease(gpu, new NodeId("n"), Scenario.DOMAIN, Pool.INFERENCE, owner, 1, 1, NOW, Optional.empty()));
    }

    private long epoch = 1;
    private long sequence;

    private void decided(Action action, boolean advisory) {
        sequence++;
        Reason reason = Reason.of(ReasonCode.ADOPTED, "for the test", Map.of(), List.of(), 1);
        replicas.take(
                new Decision(new DecisionId(Scenario.DOMAIN, epoch, sequence), NOW, NOW, advisory, reason, action));
    }

    private static Action adopt(GpuId gpu, ServiceId service) {
        return new Action.Adopt(
                new Tenant.Service(service),
                List.of(new Adopted("process/7-1", List.of(gpu))),
                List.of(),
                Optional.empty(),
                Optional.empty());
    }

    /** No declaration is asked: the selector may be gone. */
    @Test
    void aReplicaThatWasTakenOverIsKnownByItsDecision() {
        owned(ONE, new Owner.Serving(CHAT));
        owned(TWO, new Owner.Serving(CHAT));

        decided(adopt(ONE, CHAT), false);
        decided(new Action.Serve(CHAT, List.of(TWO), false), false);

        assertThat(replicas.againstStop())
                .contains(
                        "service/chat has replicas on one, which ran before Lendstream and were taken over: they would be stopped. Add --stop if they may be.");
    }

    @Test
    void aWarmReplicaThatServesAgainIsStillTheSame() {
        owned(ONE, new Owner.Serving(CHAT));
        decided(adopt(ONE, CHAT), false);

        decided(new Action.Serve(CHAT, List.of(ONE), true), false);
        assertThat(replicas.againstStop())
                .hasValueSatisfying(why -> assertThat(why).contains("taken over"));

        decided(new Action.Serve(CHAT, List.of(ONE), false), false);
        assertThat(replicas.againstStop()).as("another one was started there").isEmpty();
    }

    @Test
    void adviceAndOtherServicesSayNothing() {
        owned(ONE, new Owner.Serving(CHAT));
        owned(TWO, new Owner.Serving(new ServiceId("code")));

        decided(adopt(ONE, CHAT), true);
        decided(adopt(TWO, new ServiceId("code")), false);

        assertThat(replicas.againstStop())
                .hasValueSatisfying(why -> assertThat(why)
                        .startsWith("service/chat has replicas on one, of which topic decisions has no start"));
    }

    @Test
    void aDecisionOfAReplacedSchedulerDoesNotCount() {
        owned(ONE, new Owner.Serving(CHAT));
        epoch = 2;
        decided(adopt(ONE, CHAT), false);

        epoch = 1;
        decided(new Action.Serve(CHAT, List.of(ONE), false), false);

        assertThat(replicas.againstStop())
                .hasValueSatisfying(why -> assertThat(why).contains("taken over"));
    }

    @Test
    void aReplicaWhoseDriverChoseTheGpuWasNotTakenOver() {
        Lease lease = new Lease(
                ONE,
                new NodeId("n"),
                Scenario.DOMAIN,
                Pool.INFERENCE,
                new Owner.Serving(CHAT),
                1,
                1,
                NOW,
                Optional.empty(),
                Optional.empty(),
                Optional.of(SlotKnowledge.named(Optional.empty())),
                Optional.empty());
        replicas.take(lease);
        decided(new Action.Serve(CHAT, List.of(TWO), false), false);

        assertThat(replicas.againstStop()).isEmpty();
    }

    @Test
    void aGpuThatWasGivenBackDoesNotCount() {
        owned(ONE, new Owner.Serving(CHAT));
        decided(adopt(ONE, CHAT), false);

        owned(ONE, new Owner.Free());

        assertThat(replicas.againstStop()).isEmpty();
    }
}
