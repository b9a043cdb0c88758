package io.lendstream.schemas.registry;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The schema ids that the registry does not know, so that records with such ids do not hold up others: a question takes some
 * milliseconds, and whoever may write a record may write any id.
 *
 * <p>An id is asked for again after five seconds, then after ten, and so on up to a minute: a replica of a registry may learn of a
 * schema late. Beyond {@link #MOST_QUESTIONS} unknown ids in {@link #WINDOW}, ids that were never seen are not asked for until the window is
 * over. May be used by many threads.
 */
final class UnknownIds {
    /** The most unknown ids that the registry is asked for in a window. */
    static final int MOST_QUESTIONS = 200;

    static final Duration WINDOW = Duration.ofSeconds(10);

    private static final int MOST_REMEMBERED = 10_000;
    private static final Duration SHORTEST = Duration.ofSeconds(5);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private final LongSupplier nanoClock;
    private final Map<Integer, Unknown> ids = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Unknown> eldest) {
            return size() > MOST_REMEMBERED;
        }
    };
    private long windowStart;
    private int questions;

    private record Unknown(RegistryException why, Duration pause, long untilNanos) {}

    /** @param nanoClock as {@link System#nanoTime} */
    UnknownIds(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.windowStart = nanoClock.getAsLong();
    }

    /** Why the registry is not asked for this id now; empty where it may be asked. */
    synchronized Optional<RegistryException> refusal(int id) {
        long now = nanoClock.getAsLong();
        Unknown unknown = ids.get(id);
        if (unknown != null && now - unknown.untilNanos < 0) {
            return Optional.of(unknown.why);
        }
        if (now - windowStart >= WINDOW.toNanos()) {
            windowStart = now;
            questions = 0;
        }
        return questions < MOST_QUESTIONS
                ? Optional.empty()
                : Optional.of(new SchemaNotFoundException(
                        "schema id %d was not asked for: the registry did not know %d other ids within %d s. Find who writes records with such ids, and send this one again."
                                .formatted(id, MOST_QUESTIONS, WINDOW.toSeconds()),
                        404,
                        0));
    }

    /** The registry does not know an id, or gives nothing that can be read. */
    synchronized void add(int id, RegistryException why) {
        Unknown before = ids.get(id);
        Duration pause = before == null ? SHORTEST : before.pause.multipliedBy(2);
        if (pause.compareTo(LONGEST) > 0) {
            pause = LONGEST;
        }
        questions++;
        ids.put(id, new Unknown(why, pause, nanoClock.getAsLong() + pause.toNanos()));
    }

    synchronized void remove(int id) {
        ids.remove(id);
    }
}
