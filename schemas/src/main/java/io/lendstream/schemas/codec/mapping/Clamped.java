package io.lendstream.schemas.codec.mapping;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the out-of-bounds values that this process clamped or cut, by record and field. */
public final class Clamped {
    private static final Logger LOG = LoggerFactory.getLogger(Clamped.class);
    private static final Map<Field, LongAdder> COUNTS = new ConcurrentHashMap<>();
    private static final CopyOnWriteArrayList<BiConsumer<Field, LongSupplier>> LISTENERS = new CopyOnWriteArrayList<>();

    /** A component of a record class, by name. */
    public record Field(String record, String name) {}

    private Clamped() {}

    /** How many values of a field have been clamped so far. */
    public static long count(Field field) {
        LongAdder count = COUNTS.get(field);
        return count == null ? 0 : count.sum();
    }

    /**
     * Passes each field with a clamped value to a listener once, with its running count: known fields now, others
     * later.
     */
    public static void each(BiConsumer<Field, LongSupplier> listener) {
        synchronized (COUNTS) {
            LISTENERS.add(listener);
            COUNTS.forEach((field, count) -> listener.accept(field, count::sum));
        }
    }

    static void count(String record, String name) {
        Field field = new Field(record, name);
        LongAdder count = COUNTS.get(field);
        if (count == null) {
            count = begin(field);
        }
        count.increment();
    }

    private static LongAdder begin(Field field) {
        synchronized (COUNTS) {
            LongAdder known = COUNTS.get(field);
            if (known != null) {
                return known;
            }
            LongAdder count = new LongAdder();
            COUNTS.put(field, count);
            LOG.warn(
                    "{}.{} had an out-of-bounds value; the nearest valid value is used. Further values of this field are only counted (lendstream_clamped_values_total)",
                    field.record(),
                    field.name());
            LISTENERS.forEach(listener -> listener.accept(field, count::sum));
            return count;
        }
    }
}
