package io.lendstream.core.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A need in requests per second, counted in replicas that answer more or less. */
class ReplicaMixTest {
    private static final Optional<KindId> BIG = Optional.of(new KindId("A100-SXM4-80GB"));
    private static final Optional<KindId> SMALL = Optional.of(new KindId("Tesla-T4-16GB"));
    private static final Optional<KindId> OTHER = Optional.of(new KindId("L4-24GB"));

    private static InferenceService service(KindCapacity... capacities) {
        return new InferenceService(
                        new ServiceId("chat"),
                        new DomainId("d"),
                        Instant.EPOCH,
                        List.of(),
                        Duration.ofMillis(500),
                        10,
                        Optional.empty(),
                        0,
                        Duration.ofSeconds(8))
                .onKinds(List.of(capacities));
    }

    @Test
    void replicasOfOneKindAreCountedAsReplicasThatAreAlike() {
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            double perSecond = Math.exp(8 * random.nextDouble() - 3);
            double rate = random.nextInt(4) == 0
                    ? perSecond * 0.85 * random.nextInt(60)
                    : Math.exp(10 * random.nextDouble() - 3);
            double[] replicas = new double[random.nextInt(50)];
            Arrays.fill(replicas, perSecond);

            assertThat(new ReplicaMix(replicas, perSecond).replicasFor(rate))
                    .as("%s requests/s on %d replicas of %s", rate, replicas.length, perSecond)
                    .isEqualTo(new ReplicaCapacity(perSecond, 0).replicasFor(rate));
        }
    }

    @Test
    void eachReplicaCountsWithWhatItAnswers() {
        // 85 % may be used, so that 8.5 requests/s need a capacity of 10
        ReplicaMix mix = new ReplicaMix(new double[] {10, 2}, 5);

        assertThat(mix.replicasFor(0)).isZero();
        assertThat(mix.replicasFor(8.5)).isEqualTo(1);
        assertThat(mix.replicasFor(8.6)).isEqualTo(2);
        assertThat(mix.replicasFor(0.85 * 12)).isEqualTo(2);
        assertThat(mix.replicasFor(0.85 * 12.1)).isEqualTo(3);
        assertThat(mix.replicasFor(0.85 * 22.1)).isEqualTo(5);
    }

    @Test
    void preferredKindsComeFirst() {
        InferenceService chat = service(KindCapacity.of(BIG.get(), 10), KindCapacity.of(SMALL.get(), 2));

        ReplicaMix mix = ReplicaMix.of(chat, List.of(SMALL, BIG), 10);

        assertThat(mix.replicasFor(8)).as("the A100 alone answers them").isEqualTo(1);
    }

    @Test
    void replicasOnKindsThatAreNotDeclaredDoNotCount() {
        InferenceService chat = service(KindCapacity.of(SMALL.get(), 2));

        assertThat(chat.uses(BIG)).isFalse();
        assertThat(chat.capacityOn(BIG)).isZero();
        assertThat(ReplicaMix.of(chat, List.of(BIG, BIG, SMALL), 2).replicasFor(3.4))
                .isEqualTo(2);
    }

    @Test
    void aRatioCountsWithItsLowerEnd() {
        InferenceService chat = service(
                KindCapacity.of(SMALL.get(), new KindRatio(0.25, 0.2)),
                new KindCapacity(OTHER.get(), Optional.empty(), Optional.empty(), Optional.empty()));

        assertThat(chat.capacityOn(SMALL)).isEqualTo(2);
        assertThat(chat.likelyCapacityOn(SMALL)).isEqualTo(2.5);
        assertThat(chat.capacityOn(OTHER)).as("as declared for a replica").isEqualTo(10);
    }

    @Test
    void aNumberCountsBeforeARatio() {
        InferenceService chat = service(
                new KindCapacity(SMALL.get(), Optional.of(3.0), Optional.of(new KindRatio(0.5, 0)), Optional.empty()));

        assertThat(chat.capacityOn(SMALL)).isEqualTo(3);
        assertThat(chat.likelyCapacityOn(SMALL)).isEqualTo(3);
    }

    @Test
    void withoutKindsAllAreAlike() {
        InferenceService chat = service();

        assertThat(chat.takesKindsAsAlike()).isTrue();
        assertThat(chat.capacityOn(BIG)).isEqualTo(10);
        assertThat(chat.uses(OTHER)).isTrue();
        assertThat(chat.warmUpOn(SMALL)).isEqualTo(Duration.ofSeconds(8));
        assertThat(ReplicaMix.of(chat, Collections.nCopies(3, BIG), 10).replicasFor(25.5))
                .isEqualTo(3);
    }

    @Test
    void aGpuOfNoKnownKindIsTakenAsDeclaredForAReplica() {
        assertThat(service(KindCapacity.of(SMALL.get(), 2)).capacityOn(Optional.empty()))
                .isEqualTo(10);
    }

    @Test
    void warmUpsAreByKind() {
        InferenceService chat = service(
                KindCapacity.of(BIG.get(), 10), KindCapacity.of(SMALL.get(), 2).warmingUpIn(Duration.ofSeconds(40)));

        assertThat(chat.warmUpOn(BIG)).isEqualTo(Duration.ofSeconds(8));
        assertThat(chat.warmUpOn(SMALL)).isEqualTo(Duration.ofSeconds(40));
    }

    @Test
    void badNumbersAreRefused() {
        assertThatThrownBy(() -> KindCapacity.of(BIG.get(), 0))
                .hasMessageContaining("perSecond on kind A100-SXM4-80GB must be a finite number above 0, but was 0.0");
        assertThatThrownBy(() -> KindCapacity.of(BIG.get(), Double.NaN)).hasMessageContaining("but was NaN");
        assertThatThrownBy(() -> KindCapacity.of(BIG.get(), 1).warmingUpIn(Duration.ofSeconds(-1)))
                .hasMessageContaining("warmUp");
        assertThatThrownBy(() -> new ReplicaMix(new double[0], 0)).hasMessageContaining("more than 0 requests/s");
    }
}
