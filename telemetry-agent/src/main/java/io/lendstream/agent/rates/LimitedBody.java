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

/** Reads an answer's bytes up to a limit; one more byte aborts it. The JDK has its own since Java 25. */
public final class LimitedBody implements HttpResponse.BodySubscriber<byte[]> {
    private final int largest;
    private final String wayOut;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private Optional<Flow.Subscription> subscription = Optional.empty();

    /**
     * Creates a body reader.
     *
     * @param largest most bytes
     * @param wayOut advice if it is longer, a sentence
     */
    public LimitedBody(int largest, String wayOut) {
        this.largest = largest;
        this.wayOut = wayOut;
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
                whole.completeExceptionally(tooLarge(largest, wayOut));
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

    static IOException tooLarge(int largest, String wayOut) {
        return new IOException("the answer has more than %d bytes. %s".formatted(largest, wayOut));
    }
}
