package io.lendstream.actuator.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With a session of 10 s, of which a renewal counts for 7 s. */
class StandbyGroupTest {
    private static final TopicPartition SEAT = new TopicPartition("actuators", 0);

    private final Member consumer = new Member();
    private long nanos = 1_000_000_000_000L;
    private final StandbyGroup group =
            new StandbyGroup(() -> consumer, SEAT.topic(), Duration.ofSeconds(10), () -> nanos);

    /** A member of a group whose broker takes commits, or does not. */
    private final class Member extends MockConsumer<byte[], byte[]> {
        private Optional<KafkaException> refusal = Optional.empty();
        private int commits;
        private Duration took = Duration.ZERO;

        Member() {
            super("earliest");
            subscribe(List.of(SEAT.topic()));
        }

        @Override
        public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
            refusal.ifPresent(refused -> {
                throw refused;
            });
            commits++;
            nanos += took.toNanos();
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                Set<TopicPartition> partitions, Duration timeout) {
            refusal.ifPresent(refused -> {
                throw refused;
            });
            return Map.of(SEAT, new OffsetAndMetadata(0, "pid 1 on other"));
        }
    }

    @BeforeEach
    void isOnStandby() {
        roundAfter(Duration.ofSeconds(5));
        assertThat(group.term()).isEmpty();
        assertThat(group.trouble()).isEmpty();
        assertThat(group.active()).isEqualTo("pid 1 on other");
    }

    @Test
    void theMemberThatHasThePartitionIsActiveOnceItsClaimIsAccepted() {
        consumer.refusal = Optional.of(new TimeoutException("no answer"));
        group.onPartitionsAssigned(List.of(SEAT));
        roundAfter(Duration.ZERO);
        assertThat(group.term()).isEmpty();

        consumer.refusal = Optional.empty();
        roundAfter(Duration.ZERO);
        assertThat(group.term().orElseThrow().mayStart()).isTrue();
    }

    @Test
    void whileItCannotRenewItStartsNothingButItsTermHolds() {
        StandbyGroup.Term term = active();
        consumer.refusal = Optional.of(new TimeoutException("no answer"));

        roundAfter(Duration.ofMillis(6_999));
        assertThat(term.mayStart()).isTrue();
        roundAfter(Duration.ofMillis(1));
        assertThat(term.mayStart()).isFalse();
        assertThat(term.holds()).isTrue();

        consumer.refusal = Optional.empty();
        roundAfter(Duration.ofMinutes(1));
        assertThat(term.mayStart()).isTrue();
        assertThat(group.term()).containsSame(term);
    }

    /** As while its password is changed on the broker: no other instance may be able to join either. */
    @Test
    void credentialsThatAreRefusedForAWhileEndTheStartsButNoTerm() {
        for (KafkaException refusal : List.of(
                new SaslAuthenticationException("wrong password"), new GroupAuthorizationException("actuator"))) {
            StandbyGroup.Term term = active();
            consumer.setPollException(refusal);
            roundAfter(Duration.ofSeconds(1));
            consumer.refusal = Optional.of(refusal);
            roundAfter(Duration.ofSeconds(6));
            assertThat(term.holds()).isTrue();
            assertThat(term.mayStart()).isFalse();

            consumer.refusal = Optional.empty();
            roundAfter(Duration.ofSeconds(1));
            assertThat(term.mayStart()).isTrue();
            assertThat(group.term()).containsSame(term);
        }
    }

    @Test
    void credentialsThatAreRefusedOnStandbyAreToldToTheCaller() {
        consumer.setPollException(new SaslAuthenticationException("wrong password"));

        assertThatExceptionOfType(SaslAuthenticationException.class).isThrownBy(() -> roundAfter(Duration.ZERO));
    }

    @Test
    void aRefusedClaimEndsTheStartsAtOnceAndAnAcceptedOneAllowsThemAgain() {
        StandbyGroup.Term term = active();
        consumer.refusal = Optional.of(new CommitFailedException());
        roundAfter(Duration.ofSeconds(1));
        assertThat(term.mayStart()).isFalse();

        consumer.refusal = Optional.empty();
        roundAfter(Duration.ofSeconds(1));
        assertThat(term.mayStart()).isTrue();
    }

    /** The broker counts the session from the arrival of the claim, which is not before it was sent. */
    @Test
    void aClaimCountsFromBeforeItWasSent() {
        consumer.took = Duration.ofSeconds(2);
        StandbyGroup.Term term = active();

        nanos += Duration.ofMillis(4_999).toNanos();
        assertThat(term.mayStart()).isTrue();
        nanos += Duration.ofMillis(1).toNanos();
        assertThat(term.mayStart()).isFalse();
    }

    @Test
    void aClaimIsRenewedOnceASecond() {
        active();
        int before = consumer.commits;
        for (int i = 0; i < 40; i++) {
            roundAfter(Duration.ofMillis(100));
        }

        assertThat(consumer.commits - before).isEqualTo(4);
    }

    @Test
    void whoLosesThePartitionIsNotActiveAnyMoreAndALaterTermIsAnother() {
        StandbyGroup.Term first = active();

        group.onPartitionsLost(List.of(SEAT));
        assertThat(first.holds()).isFalse();
        assertThat(first.mayStart()).isFalse();
        assertThat(group.term()).isEmpty();

        StandbyGroup.Term second = active();
        assertThat(second.mayStart()).isTrue();
        assertThat(first.holds()).isFalse();
        assertThat(first.mayStart()).isFalse();
    }

    @Test
    void anotherMemberThatJoinsChangesNothing() {
        StandbyGroup.Term term = active();

        group.onPartitionsRevoked(List.of());
        group.onPartitionsAssigned(List.of());
        roundAfter(Duration.ofMillis(100));

        assertThat(term.mayStart()).isTrue();
    }

    @Test
    void aTransactionHasTheGenerationByWhichTheBrokerRefusesItLater() {
        StandbyGroup.Term term = active();
        roundAfter(Duration.ofMillis(100));
        try (var producer =
                new MockProducer<byte[], byte[]>(true, null, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            term.fence(producer);
            producer.commitTransaction();

            assertThat(producer.consumerGroupOffsetsHistory())
                    .singleElement()
                    .satisfies(
                            offsets -> assertThat(offsets.get("dummy.group.id")).containsOnlyKeys(SEAT));
        }
    }

    @Test
    void aStandbyThatTheBrokerDoesNotAnswerSaysSo() {
        consumer.refusal = Optional.of(new TimeoutException("no answer"));
        roundAfter(Duration.ofSeconds(5));

        assertThat(group.trouble()).hasValueSatisfying(why -> assertThat(why).contains("broker does not answer"));
    }

    private StandbyGroup.Term active() {
        group.onPartitionsAssigned(List.of(SEAT));
        roundAfter(Duration.ZERO);
        return group.term().orElseThrow();
    }

    private void roundAfter(Duration time) {
        nanos += time.toNanos();
        group.round(consumer);
    }
}
