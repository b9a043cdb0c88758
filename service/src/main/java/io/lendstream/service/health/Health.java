package io.lendstream.service.health;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Whether a service lives and whether it is ready, as it says itself; any thread may say or ask. */
public final class Health {
    private volatile Optional<String> dead = Optional.empty();
    private volatile Optional<String> unready = Optional.of("starting");
    private final List<Supplier<Optional<String>>> conditions = new CopyOnWriteArrayList<>();

    /** It does its work. */
    public void ready() {
        unready = Optional.empty();
    }

    /** It is well, but not ready to do its work yet, or any more. */
    public void notReady(String why) {
        unready = Optional.of(why);
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
        dead = Optional.of(why);
    }

    /** Why it is dead; empty while it lives. */
    public Optional<String> whyDead() {
        return dead;
    }

    /** Why it is not ready; empty when it is. */
    public Optional<String> whyNotReady() {
        return whyDead()
                .or(() -> unready)
                .or(() -> conditions.stream()
                        .flatMap(condition -> condition.get().stream())
                        .findFirst());
    }
}
