package io.lendstream.agent.users;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** The answer to a unary gRPC call: headers, a message, and trailers with the status. */
final class GrpcAnswer implements Stream.Listener {
    private static final int OK = 200;
    /** The largest message that the kubelet's own clients accept, in bytes. */
    private static final int LARGEST = 16 << 20;

    private final CompletableFuture<byte[]> message = new CompletableFuture<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private volatile @Nullable String status;
    private volatile @Nullable String said;

    /** The message, once it has arrived. */
    CompletableFuture<byte[]> message() {
        return message;
    }

    @Override
    public void onHeaders(Stream stream, HeadersFrame frame) {
        MetaData meta = frame.getMetaData();
        if (meta instanceof MetaData.Response response && response.getStatus() != OK) {
            fail("the answer has HTTP status " + response.getStatus());
            return;
        }
        HttpFields fields = meta.getHttpFields();
        if (fields.contains("grpc-status")) {
            status = fields.get("grpc-status");
            said = fields.get("grpc-message");
        }
        if (meta.isResponse() && frame.isEndStream()) {
            end();
        } else {
            stream.demand(); // after trailers, too: earlier data may be unread
        }
    }

    @Override
    public void onDataAvailable(Stream stream) {
        Stream.Data data = stream.readData();
        if (data == null) {
            stream.demand();
            return;
        }
        boolean ends = data.frame().isEndStream();
        take(data.frame().getByteBuffer());
        data.release();
        if (body.size() > LARGEST) {
            fail("the answer is larger than %d MiB".formatted(LARGEST >> 20));
            stream.reset(new ResetFrame(stream.getId(), ErrorCode.CANCEL_STREAM_ERROR.code), Callback.NOOP);
        } else if (ends) {
            end();
        } else {
            stream.demand();
        }
    }

    private void take(ByteBuffer bytes) {
        byte[] some = new byte[bytes.remaining()];
        bytes.get(some);
        body.writeBytes(some);
    }

    private void end() {
        String code = status;
        byte[] all = body.toByteArray();
        if (code == null) {
            fail("the answer has no gRPC status");
        } else if (!code.equals("0")) {
            fail("the answer has gRPC status %s%s".formatted(code, said == null ? "" : ": " + said));
        } else if (all.length < Kubelet.PREFIX || all[0] != 0) {
            fail("the answer has no message, or a compressed one");
        } else if (ByteBuffer.wrap(all, 1, 4).getInt() != all.length - Kubelet.PREFIX) {
            fail("the answer's message has a wrong length");
        } else {
            message.complete(Arrays.copyOfRange(all, Kubelet.PREFIX, all.length));
        }
    }

    @Override
    public void onReset(Stream stream, ResetFrame frame, Callback callback) {
        fail("the call was reset with HTTP/2 error " + frame.getError());
        callback.succeeded();
    }

    @Override
    public void onFailure(
            Stream stream, int error, @Nullable String reason, @Nullable Throwable failure, Callback callback) {
        fail("the call failed: " + (reason == null ? failure : reason));
        callback.succeeded();
    }

    private void fail(String why) {
        message.completeExceptionally(new IOException(why));
    }
}
