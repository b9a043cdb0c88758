package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.schemas.topics.Intakes;
import io.lendstream.service.health.Health;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.junit.jupiter.api.Test;

class StandbyTest {
    private final Health health = new Health();
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final AtomicInteger looks = new AtomicInteger();
    private final List<String> seen = new ArrayList<>();

    /** Others have the group at so many looks, and then it is as said. */
    private Standby standby(int atWork, Standby.Holder then, int closingAt) {
        return new Standby(
                () -> {
                    int look = looks.incrementAndGet();
                    seen.add("%s, %.0f waiting"
                            .formatted(
                                    health.whyNotReady().orElse("ready"),
                                    metrics.get("lendstream.standby.threads")
                                            .gauge()
                                            .value()));
                    return new Standby.Group(look <= atWork ? Standby.Holder.OTHERS : then, "a text");
                },
                Duration.ofMillis(1),
                () -> looks.get() > closingAt,
                health,
                metrics);
    }

    private UncaughtErrors errors(Standby standby) {
        return new UncaughtErrors(InstantSource.fixed(Instant.EPOCH), standby);
    }

    @Test
    void anInstanceThatTheBrokerKeepsOutOfAnotherTopologysGroupWaitsForItsEnd() {
        Throwable failure = new StreamsException(new InconsistentGroupProtocolException("another assignor"));

        assertThat(errors(standby(3, Standby.Holder.NONE, 100)).handle(failure))
                .isEqualTo(StreamThreadExceptionResponse.REPLACE_THREAD);

        assertThat(seen)
                .containsExactly("starting, 0 waiting", "ready, 1 waiting", "ready, 1 waiting", "ready, 1 waiting");
        assertThat(health.whyNotReady()).contains(Standby.JOINING);
        assertThat(metrics.get("lendstream.standby.threads").gauge().value()).isZero();
    }

    @Test
    void aGroupThatIsNotClearIsAskedAgainAsOftenAsItTakes() {
        UncaughtErrors errors = errors(standby(0, Standby.Holder.UNCLEAR, 100));
        for (int i = 0; i < 50; i++) {
            assertThat(errors.handle(new InconsistentGroupProtocolException("another assignor")))
                    .isEqualTo(StreamThreadExceptionResponse.REPLACE_THREAD);
        }
        assertThat(health.whyNotReady()).contains("starting");
    }

    @Test
    void anInstanceThatIsRefusedRepeatedlyByAnEmptyGroupEnds() {
        UncaughtErrors errors = errors(standby(0, Standby.Holder.NONE, 100));
        List<StreamThreadExceptionResponse> answers = new ArrayList<>();
        for (int i = 0; i < 21; i++) {
            answers.add(errors.handle(new InconsistentGroupProtocolException("another assignor")));
        }
        assertThat(answers.subList(0, 20)).containsOnly(StreamThreadExceptionResponse.REPLACE_THREAD);
        assertThat(answers).last().isEqualTo(StreamThreadExceptionResponse.SHUTDOWN_CLIENT);
    }

    @Test
    void whoIsToEndDoesNotWait() {
        standby(1_000_000, Standby.Holder.NONE, 2).await();

        assertThat(seen).hasSize(3);
    }

    @Test
    void aGroupIsTheirsWhereItHasAnotherAssignorAndNotClearWhileItAgreesOnOne() {
        assertThat(look(GroupState.EMPTY, "").holder()).isEqualTo(Standby.Holder.NONE);
        assertThat(look(GroupState.STABLE, "ours").holder()).isEqualTo(Standby.Holder.NONE);
        assertThat(look(GroupState.PREPARING_REBALANCE, "").holder()).isEqualTo(Standby.Holder.UNCLEAR);
        assertThat(look(GroupState.STABLE, "theirs"))
                .isEqualTo(new Standby.Group(
                        Standby.Holder.OTHERS,
                        "group g has 1 member of another topology ('theirs', this instance has 'ours') at /10.0.0.7"));
    }

    private static Standby.Group look(GroupState state, String assignor) {
        var member = new MemberDescription(
                "m",
                Optional.empty(),
                Optional.empty(),
                "client",
                "/10.0.0.7",
                new MemberAssignment(Set.of()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        return Standby.group(
                new ConsumerGroupDescription(
                        "g",
                        true,
                        List.of(member),
                        assignor,
                        GroupType.CLASSIC,
                        state,
                        Node.noNode(),
                        Set.of(),
                        Optional.empty(),
                        Optional.empty()),
                "ours");
    }

    @Test
    void anErrorThatNoTryCanMendIsNotWaitedFor() {
        assertThat(errors(standby(1, Standby.Holder.NONE, 100)).handle(new IllegalStateException("a bug")))
                .isEqualTo(StreamThreadExceptionResponse.SHUTDOWN_CLIENT);
        assertThat(seen).isEmpty();
    }

    @Test
    void theAssignorsNameSaysTheTopologysVersion() {
        Map<String, Object> consumer =
                TopologyAssignor.in(Map.of("group.id", "g"), TopologyAssignor.name(7, Intakes.NONE));

        assertThat(consumer)
                .containsEntry("group.id", "g")
                .containsEntry("partition.assignment.strategy", TopologyAssignor.class.getName());
        assertThat(TopologyAssignor.name(7, Intakes.NONE)).isEqualTo("lendstream-topology-7");
    }

    @Test
    void instancesWithOtherIntakesAreOfAnotherTopology() {
        String one = TopologyAssignor.name(7, Intakes.parse("a=east,b=south"));

        assertThat(one).startsWith("lendstream-topology-7-");
        assertThat(TopologyAssignor.name(7, Intakes.parse("b=south,a=east"))).isEqualTo(one);
        assertThat(TopologyAssignor.name(7, Intakes.parse("a=east+west,b=south")))
                .isNotEqualTo(one);
    }

    @Test
    void anInstanceThatPausedBeyondItsTransactionTimeoutStartsANewThread() {
        Throwable failure = new StreamsException(
                "Error encountered trying to commit a transaction", new InvalidTxnStateException("an invalid state"));

        assertThat(errors(standby(1, Standby.Holder.NONE, 100)).handle(failure))
                .isEqualTo(StreamThreadExceptionResponse.REPLACE_THREAD);
        assertThat(seen).isEmpty();
    }
}
