package io.lendstream.service.health;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Whether a service is alive and ready, as the service itself reports; safe for many threads. */
public final class Health {
    private volatile Optional<String> dead = Optional.empty();
    private volatile Optional<String> unready = Optional.of("starting");
    private final List<Supplier<Optional<String>>> conditions = new CopyOnWriteArrayList<>();

    /** Reports that the service does its work. */
    public void ready() {
        unready = Optional.empty();
    }

    /** Reports that the service is alive, but cannot do its work now. */
    public void notReady(String why) {
        unready = Optional.of(why);
    }

    /**
     * Adds a condition that makes the service not ready while it holds, independent of {@link #ready}.
     *
     * @param condition checked at each readiness request: why the service is not ready; empty if the condition does
     *     not hold
     */
    public void notReadyWhile(Supplier<Optional<String>> condition) {
        conditions.add(condition);
    }

    /** Reports that the service will not recover by itself and should be restarted. */
    public void failed(String why) {
        dead = Optional.of(why);
    }

    /** Why the service failed; empty while it is alive. */
    public Optional<String> whyDead() {
        return dead;
    }

    /** Why the service is not ready; empty if it is. */
    public Optional<String> whyNotReady() {
        return whyDead()
                .or(() -> unready)
                .or(() -> conditions.stream()
                        .flatMap(condition -> condition.get().stream())
                        .findFirst());
    }
}
