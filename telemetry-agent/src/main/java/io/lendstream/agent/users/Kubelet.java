package io.lendstream.agent.users;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.frames.DataFrame;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.Transport;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The kubelet's list of pods' devices, by gRPC over its Unix socket. Each call has a connection of its own, so that a
 * restarted kubelet is found again. HTTP/2 comes from Jetty; gRPC adds little to it.
 *
 * @see <a href="https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md">gRPC over HTTP/2</a>
 */
final class Kubelet implements PodUsers.Lister {
    private static final String LIST = "http://localhost/v1.PodResourcesLister/List";
    /** The prefix of each message: a byte for compression, and four for its length. */
    static final int PREFIX = 5;

    private final Path socket;
    private final Duration deadline;
    private final HTTP2Client client;

    Kubelet(Path socket, Duration deadline) {
        this.socket = socket;
        this.deadline = deadline;
        var threads = new QueuedThreadPool(4, 1, 10_000);
        threads.setName("kubelet");
        threads.setDaemon(true);
        threads.setReservedThreads(0);
        var connector = new ClientConnector();
        connector.setSelectors(1);
        connector.setExecutor(threads);
        connector.setConnectTimeout(deadline);
        connector.setIdleTimeout(deadline.multipliedBy(2));
        this.client = new HTTP2Client(connector);
        client.setUseALPN(false);
    }

    @Override
    public List<DeviceHolding> list() throws IOException, InterruptedException {
        if (!Files.exists(socket)) {
            throw new IOException(socket + " does not exist, or this user may not access it");
        }
        long until = System.nanoTime() + deadline.toNanos();
        started();
        Session session = await(
                client.connect(
                        new Transport.TCPUnix(socket),
                        null,
                        UnixDomainSocketAddress.of(socket),
                        new Session.Listener() {}),
                until);
        try {
            var answer = new GrpcAnswer();
            Stream stream = await(session.newStream(request(), answer), until);
            await(stream.data(new DataFrame(stream.getId(), ByteBuffer.allocate(PREFIX), true)), until);
            return PodResources.read(await(answer.message(), until));
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "%s returned something other than a list of pods' devices: %s".formatted(socket, e.getMessage()),
                    e);
        } finally {
            session.close(ErrorCode.NO_ERROR.code, null, Callback.NOOP);
        }
    }

    /** Started at first use: an agent that does not ask for pods has none of its threads. */
    private void started() throws IOException {
        try {
            client.start();
        } catch (Exception e) { // Jetty's life cycle methods throw Exception
            throw new IOException("the HTTP/2 client does not start: " + e, e);
        }
    }

    private HeadersFrame request() {
        HttpFields.Mutable fields = HttpFields.build()
                .put("content-type", "application/grpc")
                .put("te", "trailers")
                .put("grpc-timeout", deadline.toMillis() + "m");
        return new HeadersFrame(
                new MetaData.Request("POST", HttpURI.from(LIST), HttpVersion.HTTP_2, fields), null, false);
    }

    private <T> T await(CompletableFuture<T> coming, long until) throws IOException, InterruptedException {
        try {
            return coming.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(
                    "%s: %s".formatted(socket, cause.getMessage() == null ? cause : cause.getMessage()), cause);
        } catch (TimeoutException e) {
            throw new IOException("%s has not answered within %s".formatted(socket, deadline), e);
        }
    }

    @Override
    public void close() {
        try {
            client.stop();
        } catch (Exception e) { // as at the start
            throw new IllegalStateException("the HTTP/2 client does not stop", e);
        }
    }
}
