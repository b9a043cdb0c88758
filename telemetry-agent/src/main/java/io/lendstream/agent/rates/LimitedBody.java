package io.lendstream.agent.rates;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** Takes an answer's bytes up to a number; one byte more breaks it off. The JDK's own has come with Java 25. */
final class LimitedBody implements HttpResponse.BodySubscriber<byte[]> {
    private final int largest;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private Optional<Flow.Subscription> subscription = Optional.empty();

    LimitedBody(int largest) {
        this.largest = largest;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return whole;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = Optional.of(given);
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
        for (ByteBuffer part : parts) {
            if (bytes.size() + part.remaining() > largest) {
                subscription.ifPresent(Flow.Subscription::cancel);
                whole.completeExceptionally(tooLarge(largest));
                return;
            }
            byte[] copy = new byte[part.remaining()];
            part.get(copy);
            bytes.write(copy, 0, copy.length);
        }
    }

    @Override
    public void onError(Throwable failure) {
        whole.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        whole.complete(bytes.toByteArray());
    }

    static IOException tooLarge(int largest) {
        return new IOException(
                "the answer has more than %d bytes (agent.rate-largest). Raise it, or name an endpoint that says less."
                        .formatted(largest));
    }
}
