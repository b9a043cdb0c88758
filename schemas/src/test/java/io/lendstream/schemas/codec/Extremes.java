package io.lendstream.schemas.codec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.jspecify.annotations.Nullable;

/**
 * Makes records with extreme values from a good one, field by field of its schema, so that a new field is covered
 * without new code.
 */
public final class Extremes {
    private static final List<Object> LONGS = List.of(
            Long.MIN_VALUE,
            Long.MIN_VALUE + 1,
            -1L,
            0L,
            1L,
            100_000_000L,
            3_600_000L,
            86_400_000L,
            31_622_400_000L,
            4_102_444_800_000L,
            7_258_118_400_000L,
            1_000_000_000_000_000L,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    private static final List<Object> INTS =
            List.of(Integer.MIN_VALUE, -1, 0, 1, 1_000_000, 100_000_000, 1_000_000_000, Integer.MAX_VALUE);
    private static final List<Object> DOUBLES = List.of(
            Double.NaN,
            Double.NEGATIVE_INFINITY,
            Double.POSITIVE_INFINITY,
            -Double.MAX_VALUE,
            -1e18,
            -1.0,
            -0.0,
            0.0,
            Double.MIN_VALUE,
            1e-300,
            0.5,
            1.0,
            1e18,
            Double.MAX_VALUE);
    private static final List<Object> TEXTS = List.of(
            "",
            " ",
            ".",
            "..",
            "a/../b",
            "x".repeat(249),
            "x".repeat(250),
            "x".repeat(100_000),
            "a\0b",
            "a\nb",
            "\u001b[2J",
            "\u202Eabc",
            "\uD800",
            "\uD83D\uDE80",
            "\"'`\\",
            "$(id)",
            "=1+1",
            "NaN",
            "unknown");
    private static final int MANY = 300;

    private final GenericRecord base;
    private final List<Slot> slots = new ArrayList<>();

    /** A place in a record, as positions of fields and of elements. */
    private record Slot(String name, List<Integer> path, Schema schema, List<Object> values) {}

    /** A record in which one or two fields are extreme. */
    public record Case(String name, GenericRecord record) {}

    /** @param base a good record; the more of its optional fields are set, the more is covered */
    public Extremes(GenericRecord base) {
        this.base = base;
        find(base.getSchema(), base, base.getSchema().getName(), List.of());
    }

    /** Every field at each of its extremes, one at a time. */
    public List<Case> singles() {
        List<Case> cases = new ArrayList<>();
        for (Slot slot : slots) {
            for (int i = 0; i < slot.values.size(); i++) {
                GenericRecord copy = copy();
                set(copy, slot, slot.values.get(i));
                cases.add(new Case(slot.name + " = " + brief(slot.values.get(i)), copy));
            }
        }
        return cases;
    }

    /** Two fields at extremes, by chance. */
    public List<Case> pairs(int count, long seed) {
        Random random = new Random(seed);
        List<Case> cases = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            GenericRecord copy = copy();
            StringBuilder name = new StringBuilder();
            for (int k = 0; k < 2; k++) {
                Slot slot = slots.get(random.nextInt(slots.size()));
                Object value = slot.values.get(random.nextInt(slot.values.size()));
                if (set(copy, slot, value)) {
                    name.append(slot.name).append(" = ").append(brief(value)).append("; ");
                }
            }
            cases.add(new Case(name + "seed " + seed, copy));
        }
        return cases;
    }

    private GenericRecord copy() {
        return GenericData.get().deepCopy(base.getSchema(), base);
    }

    private void find(Schema schema, @Nullable Object value, String name, List<Integer> path) {
        switch (schema.getType()) {
            case RECORD -> {
                if (value instanceof IndexedRecord record) {
                    for (Schema.Field field : schema.getFields()) {
                        find(
                                field.schema(),
                                record.get(field.pos()),
                                name + "." + field.name(),
                                with(path, field.pos()));
                    }
                }
            }
            case UNION -> {
                Schema inner = schema.getTypes().get(1);
                List<Object> values = new ArrayList<>();
                values.add(NULL);
                if (value == null) {
                    values.addAll(leaves(inner));
                }
                slots.add(new Slot(name, path, schema, values));
                if (value != null) {
                    find(inner, value, name, path);
                }
            }
            case ARRAY -> {
                List<?> list = (List<?>) value;
                List<Object> values = new ArrayList<>();
                values.add(List.of());
                if (list != null && !list.isEmpty()) {
                    values.add(new ArrayList<>(java.util.Collections.nCopies(MANY, list.get(0))));
                    find(schema.getElementType(), list.get(0), name + "[0]", with(path, 0));
                } else {
                    leaves(schema.getElementType()).forEach(leaf -> values.add(new ArrayList<>(List.of(leaf))));
                }
                slots.add(new Slot(name, path, schema, values));
            }
            case MAP -> {
                Map<String, Object> many = new HashMap<>();
                List<Object> leaves = leaves(schema.getValueType());
                for (int i = 0; i < MANY && !leaves.isEmpty(); i++) {
                    many.put("key\n" + i, leaves.get(i % leaves.size()));
                }
                slots.add(new Slot(name, path, schema, List.of(Map.of(), many)));
            }
            default -> slots.add(new Slot(name, path, schema, leaves(schema)));
        }
    }

    private static final Object NULL = new Object();

    private static List<Object> leaves(Schema schema) {
        return switch (schema.getType()) {
            case LONG -> LONGS;
            case INT -> INTS;
            case DOUBLE -> DOUBLES;
            case STRING -> TEXTS;
            case BOOLEAN -> List.of(true, false);
            case ENUM ->
                schema.getEnumSymbols().stream()
                        .<Object>map(symbol -> new GenericData.EnumSymbol(schema, symbol))
                        .toList();
            default -> List.of();
        };
    }

    private static List<Integer> with(List<Integer> path, int next) {
        List<Integer> longer = new ArrayList<>(path);
        longer.add(next);
        return longer;
    }

    /** Whether the place was still there; another extreme may have taken it away. */
    @SuppressWarnings("unchecked") // lists of a generic record
    private static boolean set(GenericRecord record, Slot slot, Object value) {
        Object at = record;
        for (int i = 0; i < slot.path.size(); i++) {
            int step = slot.path.get(i);
            boolean isLast = i == slot.path.size() - 1;
            Object set = value == NULL ? null : value;
            if (at instanceof IndexedRecord inner) {
                if (isLast) {
                    inner.put(step, set);
                    return true;
                }
                at = inner.get(step);
            } else if (at instanceof List<?> list && step < list.size()) {
                if (isLast) {
                    ((List<Object>) list).set(step, set);
                    return true;
                }
                at = list.get(step);
            } else {
                return false;
            }
        }
        return false;
    }

    private static String brief(Object value) {
        String text = value == NULL ? "null" : value.toString().replaceAll("[^ -~]", "?");
        return text.length() > 40 ? text.substring(0, 40) + "... (" + text.length() + ")" : text;
    }
}
