package io.lendstream.agent.kubernetes;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Lines of a streamed answer, with a time limit for each, because a dead connection is silent. */
final class Lines implements HttpResponse.BodyHandler<Void>, Flow.Subscriber<String>, AutoCloseable {
    private static final int OK = 200;

    /** A line; or, at the end, none, with the reason if there is one. */
    private record Next(Optional<String> line, Optional<Throwable> failure) {}

    private final String from;
    private final BlockingQueue<Next> queue = new LinkedBlockingQueue<>();
    private volatile int status = OK;
    private volatile Optional<Flow.Subscription> subscription = Optional.empty();
    private Optional<CompletableFuture<?>> answer = Optional.empty();

    /** @param from the server's name, for messages */
    Lines(String from) {
        this.from = from;
    }

    /** The answer with the lines; a failed one ends them. */
    void comeBy(CompletableFuture<HttpResponse<Void>> coming) {
        answer = Optional.of(coming.whenComplete((done, failure) -> {
            if (failure != null) {
                onError(failure);
            }
        }));
    }

    @Override
    public HttpResponse.BodySubscriber<Void> apply(HttpResponse.ResponseInfo response) {
        status = response.statusCode();
        return HttpResponse.BodySubscribers.fromLineSubscriber(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = Optional.of(given);
        given.request(1);
    }

    @Override
    public void onNext(String line) {
        queue.add(new Next(Optional.of(line), Optional.empty()));
    }

    @Override
    public void onError(Throwable failure) {
        queue.add(new Next(Optional.empty(), Optional.of(failure)));
    }

    @Override
    public void onComplete() {
        queue.add(new Next(Optional.empty(), Optional.empty()));
    }

    /**
     * The next line; empty if the answer has ended normally.
     *
     * @param patience time limit of the wait
     */
    Optional<String> next(Duration patience) throws IOException, InterruptedException {
        Next next = queue.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (next == null) {
            throw new IOException("%s has sent nothing for %s".formatted(from, patience));
        }
        if (next.failure().isPresent()) {
            Throwable failure = next.failure().get();
            throw new IOException(
                    "%s: %s".formatted(from, failure.getMessage() == null ? failure : failure.getMessage()), failure);
        }
        if (status != OK) {
            throw ApiServer.refused(status, next.line().orElse(""));
        }
        subscription.ifPresent(each -> each.request(1));
        return next.line();
    }

    /** Hangs up. */
    @Override
    public void close() {
        subscription.ifPresent(Flow.Subscription::cancel);
        answer.ifPresent(coming -> coming.cancel(true));
    }
}
