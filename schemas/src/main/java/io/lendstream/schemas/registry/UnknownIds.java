package io.lendstream.schemas.registry;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Remembers schema IDs that the registry does not know, so that records with such IDs do not delay others. A request
 * takes some milliseconds, and a writer can use any ID.
 *
 * <p>An unknown ID is requested again after five seconds, then after ten, and so on up to a minute, because a
 * registry replica may receive a schema late. After {@link #MOST_QUESTIONS} unknown IDs in {@link #WINDOW}, new IDs
 * are not requested until the window ends. Safe for many threads.
 */
final class UnknownIds {
    /** The most unknown IDs that are requested in a window. */
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

    /** @param nanoClock a clock like {@link System#nanoTime} */
    UnknownIds(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.windowStart = nanoClock.getAsLong();
    }

    /** Why this ID is not requested now; empty if it may be requested. */
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
                        "schema id %d was not requested: the registry did not know %d other ids within %d s. Stop the writer of such records, and send this record again."
                                .formatted(id, MOST_QUESTIONS, WINDOW.toSeconds()),
                        404,
                        0));
    }

    /** Records that the registry does not know an ID, or returned an unreadable schema for it. */
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
