package io.lendstream.agent.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.CodedOutputStream;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a server of gRPC's own library on a Unix socket, which speaks the kubelet's protocol with messages of Google's. */
class KubeletTest {
    private static final Duration DEADLINE = Duration.ofMillis(1500);
    private static final MethodDescriptor<byte[], byte[]> LIST = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("v1.PodResourcesLister/List")
            .setRequestMarshaller(new Plain())
            .setResponseMarshaller(new Plain())
            .build();

    @TempDir
    Path directory;

    private Path socket;
    private EventLoopGroup loop;
    private Optional<Server> server = Optional.empty();

    /** Messages as bytes. */
    private static final class Plain implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @BeforeEach
    void start() {
        assumeTrue(Epoll.isAvailable(), "needs Linux: Netty's Unix sockets are native there");
        socket = directory.resolve("kubelet.sock");
        loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.ifPresent(Server::shutdownNow);
        assertThat(loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(5, TimeUnit.SECONDS))
                .isTrue();
    }

    private void serve(ServerCalls.UnaryMethod<byte[], byte[]> answer) throws IOException {
        server = Optional.of(NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .addService(ServerServiceDefinition.builder("v1.PodResourcesLister")
                        .addMethod(LIST, ServerCalls.asyncUnaryCall(answer))
                        .build())
                .build()
                .start());
    }

    private void serve(byte[] response) throws IOException {
        serve((request, observer) -> {
            assertThat(request).isEmpty();
            observer.onNext(response);
            observer.onCompleted();
        });
    }

    private List<DeviceHolding> list() throws IOException, InterruptedException {
        try (var kubelet = new Kubelet(socket, DEADLINE)) {
            return kubelet.list();
        }
    }

    private interface Fields {
        void write(CodedOutputStream to) throws IOException;
    }

    private static byte[] message(Fields fields) throws IOException {
        var bytes = new ByteArrayOutputStream();
        CodedOutputStream to = CodedOutputStream.newInstance(bytes);
        fields.write(to);
        to.flush();
        return bytes.toByteArray();
    }

    /** A pod with one container, which has devices of a plugin and one of a claim, and what else the kubelet tells. */
    private static byte[] pod(String namespace, String name, String resource, List<String> ids, String claimed)
            throws IOException {
        byte[] numa = message(to -> to.writeInt64(1, 1));
        byte[] topology = message(to -> to.writeByteArray(1, numa));
        byte[] devices = message(to -> {
            to.writeString(1, resource);
            for (String id : ids) {
                to.writeString(2, id);
            }
            to.writeByteArray(3, topology);
        });
        byte[] cdi = message(to -> to.writeString(1, claimed));
        byte[] claimResource = message(to -> {
            to.writeByteArray(1, cdi);
            to.writeString(2, "gpu.nvidia.com");
        });
        byte[] claim = message(to -> {
            to.writeString(2, "my-claim");
            to.writeString(3, namespace);
            to.writeByteArray(4, claimResource);
        });
        byte[] container = message(to -> {
            to.writeString(1, "main");
            to.writeByteArray(2, devices);
            to.writeByteArray(3, new byte[] {1, 2, 3}); // packed cpu_ids
            to.writeByteArray(4, message(memory -> {
                memory.writeString(1, "memory");
                memory.writeUInt64(2, 1L << 40);
            }));
            if (!claimed.isEmpty()) {
                to.writeByteArray(5, claim);
            }
            to.writeFixed32(100, 7);
            to.writeFixed64(101, 7);
        });
        return message(to -> {
            to.writeString(1, name);
            to.writeString(2, namespace);
            to.writeByteArray(3, container);
        });
    }

    private static byte[] response(byte[]... pods) throws IOException {
        return message(to -> {
            for (byte[] pod : pods) {
                to.writeByteArray(1, pod);
            }
        });
    }

    @Test
    void tellsTheDevicesOfEachContainer() throws Exception {
        serve(response(
                pod("ml", "chat-0", "nvidia.com/gpu", List.of("GPU-0", "GPU-1"), ""),
                pod("web", "front", "cpu", List.of(), ""),
                pod("ml", "rank", "nvidia.com/mig-1g.10gb", List.of("MIG-7"), "k8s.gpu.nvidia.com/claim=9-gpu-3")));

        assertThat(list())
                .containsExactly(
                        new DeviceHolding("ml", "chat-0", "main", "nvidia.com/gpu", "GPU-0"),
                        new DeviceHolding("ml", "chat-0", "main", "nvidia.com/gpu", "GPU-1"),
                        new DeviceHolding("ml", "rank", "main", "nvidia.com/mig-1g.10gb", "MIG-7"),
                        new DeviceHolding(
                                "ml", "rank", "main", "k8s.gpu.nvidia.com/claim", "k8s.gpu.nvidia.com/claim=9-gpu-3"));
    }

    @Test
    void aNodeWithoutPodsHasNone() throws Exception {
        serve(new byte[0]);

        assertThat(list()).isEmpty();
    }

    @Test
    void aListOfManyFramesIsReadToItsEnd() throws Exception {
        var pods = new ArrayList<byte[]>();
        for (int i = 0; i < 5_000; i++) {
            pods.add(pod("a-namespace-with-a-long-name", "pod-" + i, "nvidia.com/gpu", List.of("GPU-" + i), ""));
        }
        serve(response(pods.toArray(byte[][]::new)));

        assertThat(list())
                .hasSize(5_000)
                .last()
                .isEqualTo(new DeviceHolding(
                        "a-namespace-with-a-long-name", "pod-4999", "main", "nvidia.com/gpu", "GPU-4999"));
    }

    @Test
    void oneAskerFindsAKubeletThatWasRestarted() throws Exception {
        serve(response(pod("ml", "a", "nvidia.com/gpu", List.of("GPU-0"), "")));
        try (var kubelet = new Kubelet(socket, DEADLINE)) {
            assertThat(kubelet.list()).hasSize(1);
            server.orElseThrow().shutdownNow().awaitTermination();
            Files.deleteIfExists(socket);
            assertThatThrownBy(kubelet::list).isInstanceOf(IOException.class).hasMessageContaining("does not exist");

            serve(response());
            assertThat(kubelet.list()).isEmpty();
        }
    }

    @Test
    void aRefusalIsTold() throws Exception {
        serve((request, observer) -> observer.onError(Status.RESOURCE_EXHAUSTED
                .withDescription("rejected by rate limit")
                .asRuntimeException()));

        assertThatThrownBy(this::list)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the answer has gRPC status 8: rejected by rate limit");
    }

    @Test
    void aServerWithoutTheServiceIsTold() throws Exception {
        server = Optional.of(NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .build()
                .start());

        assertThatThrownBy(this::list).isInstanceOf(IOException.class).hasMessageContaining("gRPC status 12");
    }

    @Test
    void aServerThatHangsIsWaitedForNoLongerThanTheDeadline() throws Exception {
        serve((request, observer) -> {});

        long began = System.nanoTime();
        assertThatThrownBy(this::list)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("kubelet.sock")
                .hasMessageMatching("(?s).*(has not answered within PT1.5S|gRPC status 4).*");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void aSocketThatNobodyAnswersOnIsWaitedForNoLongerEither() throws Exception {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(socket));

            long began = System.nanoTime();
            assertThatThrownBy(this::list)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("has not answered within PT1.5S");
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void aSocketWithoutAServerIsTold() throws Exception {
        try (ServerSocketChannel gone = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            gone.bind(UnixDomainSocketAddress.of(socket));
        }

        assertThatThrownBy(this::list).isInstanceOf(IOException.class).hasMessageContaining("kubelet.sock");
        assertThatThrownBy(() -> new Kubelet(directory.resolve("none"), DEADLINE).list())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none does not exist");
    }

    @Test
    void whatIsNoListIsRefused() throws Exception {
        serve(new byte[] {0x0a, 0x7f, 1});

        assertThatThrownBy(this::list)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("returned something other than a list of pods' devices")
                .hasMessageContaining("a field of 127 bytes, but 1 are left");
    }
}
