package io.lendstream.agent.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class PodUsersTest {
    private static final Duration OFTEN = Duration.ofMillis(20);
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** Returns a given answer; fails without one. */
    private static final class Script implements PodUsers.Lister {
        private final AtomicReference<Optional<List<DeviceHolding>>> answer = new AtomicReference<>(Optional.empty());
        private volatile boolean closed;
        private volatile boolean hangs;
        private volatile boolean breaks;

        @Override
        public List<DeviceHolding> list() throws IOException, InterruptedException {
            if (hangs) {
                new CountDownLatch(1).await();
            }
            if (breaks) {
                throw new NoClassDefFoundError("org/example/Missing");
            }
            return answer.get().orElseThrow(() -> new IOException("/kubelet.sock is not there"));
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Script kubelet = new Script();

    private static DeviceHolding gpu(String pod, String device) {
        return new DeviceHolding("ml", pod, "main", "nvidia.com/gpu", device);
    }

    private GpuSnapshot asked(DeviceHolding... holdings) {
        kubelet.answer.set(Optional.of(List.of(holdings)));
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE)))) {
            return users.in(Seen.with());
        }
    }

    @Test
    void podsAreNamedByGpuAndByMigDevice() {
        GpuSnapshot sight = asked(
                gpu("chat-0", "GPU-0"),
                new DeviceHolding("ml", "rank-1", "server", "nvidia.com/mig-3g.40gb", "MIG-a"),
                new DeviceHolding("ml", "rank-1", "server", "cpu", "7"));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "kubernetes/ml/chat-0/main",
                        "GPU-1", "",
                        "GPU-2", "kubernetes/ml/rank-1/server",
                        "GPU-2/0:4", "kubernetes/ml/rank-1/server",
                        "GPU-2/4:4", ""));
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void replicasOfASharedGpuAreThatGpu() {
        assertThat(Seen.users(asked(gpu("b", "GPU-1::1"), gpu("a", "GPU-1::0"))))
                .containsEntry("GPU-1", "kubernetes/ml/a/main kubernetes/ml/b/main");
    }

    @Test
    void anUnknownDeviceMayBeAnyGpuWithoutAKnownUser() {
        GpuSnapshot sight = asked(
                gpu("chat-0", "GPU-0"),
                new DeviceHolding(
                        "ml", "claims", "main", "k8s.gpu.nvidia.com/claim", "k8s.gpu.nvidia.com/claim=7-gpu-1"));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "kubernetes/ml/chat-0/main",
                        "GPU-1", "?",
                        "GPU-2", "?",
                        "GPU-2/0:4", "?",
                        "GPU-2/4:4", "?"));
        assertThat(sight.why()).contains("(k8s.gpu.nvidia.com/claim=7-gpu-1)", "the users of 3 GPUs are unknown");
    }

    @Test
    void devicesThatAreNotGpusAreIgnored() {
        GpuSnapshot sight = asked(new DeviceHolding("net", "router", "main", "nvidia.com/hostdev", "0000:3b:00.2"));

        assertThat(Seen.users(sight)).containsEntry("GPU-0", "").doesNotContainValue("?");
    }

    @Test
    void usersAreUnknownUntilTheKubeletAnswers() {
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE)))) {
            GpuSnapshot without = users.in(Seen.with());
            assertThat(Seen.users(without).values()).containsOnly("?");
            assertThat(without.why())
                    .isEqualTo(
                            "the kubelet does not return the pods of GPUs: /kubelet.sock is not there (agent.pod-resources)");

            kubelet.answer.set(Optional.of(List.of(gpu("chat-0", "GPU-0"))));
            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(
                            () -> assertThat(Seen.users(users.in(Seen.with()))).containsEntry("GPU-1", ""));

            kubelet.answer.set(Optional.empty());
            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(
                            () -> assertThat(Seen.users(users.in(Seen.with())).values())
                                    .containsOnly("?"));
        }
        assertThat(kubelet.closed).isTrue();
    }

    @Test
    void anAnswerThatIsNotRenewedIsNotBelievedForLong() {
        kubelet.answer.set(Optional.of(List.of(gpu("chat-0", "GPU-0"))));
        Duration soon = Duration.ofMillis(50);
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, soon)))) {
            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(
                            () -> assertThat(Seen.users(users.in(Seen.with()))).containsEntry("GPU-1", ""));
            kubelet.hangs = true;

            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(
                            () -> assertThat(Seen.users(users.in(Seen.with())).values())
                                    .containsOnly("?"));
            assertThat(users.in(Seen.with()).why()).contains("last returned", "are not used");
        }
    }

    @Test
    void whatIsThrownWhileAskingEndsTheAnswerAndNotTheAsking() {
        kubelet.breaks = true;
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE)))) {
            assertThat(users.in(Seen.with()).why()).contains("org/example/Missing");
            kubelet.answer.set(Optional.of(List.of()));
            kubelet.breaks = false;

            await().atMost(Duration.ofSeconds(5))
                    .untilAsserted(
                            () -> assertThat(Seen.users(users.in(Seen.with()))).containsEntry("GPU-1", ""));
        }
    }

    @Test
    void whoHasAGpuInMigModeOfWhichNoInstanceWasSeenIsNotKnown() {
        kubelet.answer.set(Optional.of(List.of()));
        Gpu cut = Gpu.whole(Seen.GPU_2, 2, "NVIDIA H100", 80L << 30).cutInto(List.of());
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE)))) {
            GpuSnapshot sight = users.in(new GpuSnapshot(
                    NodeStatus.READY,
                    "",
                    List.of(Gpu.whole(Seen.GPU_0, 0, "NVIDIA H100", 80L << 30), cut),
                    List.of(
                            GpuSample.of(Seen.GPU_0).build(),
                            GpuSample.of(Seen.GPU_2).build()),
                    Optional.empty()));

            assertThat(Seen.users(sight)).isEqualTo(Map.of("GPU-0", "", "GPU-2", "?"));
        }
    }

    @Test
    void aPodThatHasAllOfAGpuInMigModeMayHaveAnyOfItsInstances() {
        assertThat(Seen.users(asked(gpu("chat-0", "GPU-2"))))
                .isEqualTo(Map.of("GPU-0", "", "GPU-1", "", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", "?"));
    }

    @Test
    void anUnknownDeviceMayBeAnInstanceThatWasNotSeen() {
        assertThat(Seen.users(asked(
                        gpu("a", "GPU-0"),
                        gpu("b", "GPU-1"),
                        new DeviceHolding("ml", "c", "main", "nvidia.com/mig-3g.40gb", "MIG-a"),
                        new DeviceHolding("ml", "d", "main", "nvidia.com/mig-3g.40gb", "MIG-b"),
                        new DeviceHolding("ml", "e", "main", "nvidia.com/mig-1g.10gb", "MIG-unseen"))))
                .containsEntry("GPU-2", "?")
                .containsEntry("GPU-2/0:4", "kubernetes/ml/c/main");
    }

    @Test
    void whatOneSourceDoesNotKnowIsNotKnown() {
        kubelet.answer.set(Optional.of(List.of(gpu("chat-0", "GPU-0"))));
        UserSource unsure = new UserSource() {
            @Override
            public Answer of(GpuSnapshot sight) {
                return new Answer(Map.of(), Set.of(Seen.GPU_0), "unsure");
            }

            @Override
            public void close() {}
        };
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE), unsure))) {
            GpuSnapshot sight = users.in(Seen.with());

            assertThat(Seen.users(sight)).containsEntry("GPU-0", "?").containsEntry("GPU-1", "");
            assertThat(sight.why()).isEqualTo("unsure");
        }
    }

    @Test
    void aGpuThatIsLostHasNoKnownUsers() {
        kubelet.answer.set(Optional.of(List.of()));
        try (var users = new Users(List.of(new PodUsers(kubelet, OFTEN, DEADLINE)))) {
            GpuSnapshot lost = new GpuSnapshot(
                    NodeStatus.READY,
                    "GPU 0 does not answer",
                    List.of(),
                    List.of(GpuSample.of(new GpuId("GPU-0")).build()),
                    Optional.empty());

            assertThat(Seen.users(users.in(lost))).containsEntry("GPU-0", "?");
        }
    }

    @Test
    void withoutSourcesThereAreNoUsersAndNoProblems() {
        assertThat(Seen.users(Users.UNASKED.in(Seen.with())).values()).containsOnly("?");
    }
}
