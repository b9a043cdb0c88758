package io.lendstream.service.health;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Whether a service lives and whether it is ready, as it says itself; any thread may say or ask. */
public final class Health {
    private final AtomicReference<Optional<String>> dead = new AtomicReference<>(Optional.empty());
    private final AtomicReference<Optional<String>> unready = new AtomicReference<>(Optional.of("starting"));
    private final List<Supplier<Optional<String>>> conditions = new CopyOnWriteArrayList<>();

    /** It does its work. */
    public void ready() {
        unready.set(Optional.empty());
    }

    /** It is well, but not ready to do its work yet, or any more. */
    public void notReady(String why) {
        unready.set(Optional.of(why));
    }

    /**
     * It is not ready either while a condition holds, whatever {@link #ready} says.
     *
     * @param condition asked whenever somebody asks for readiness: why it is not ready; empty while the condition does not hold
     */
    public void notReadyWhile(Supplier<Optional<String>> condition) {
        conditions.add(condition);
    }

    /** It will not recover by itself: it should be started anew. */
    public void failed(String why) {
        dead.set(Optional.of(why));
    }

    /** Why it is dead; empty while it lives. */
    public Optional<String> whyDead() {
        return dead.get();
    }

    /** Why it is not ready; empty when it is. */
    public Optional<String> whyNotReady() {
        return whyDead()
                .or(unready::get)
                .or(() -> conditions.stream()
                        .flatMap(condition -> condition.get().stream())
                        .findFirst());
    }
}
