package io.lendstream.schemas.codec;

import io.lendstream.core.event.Limits;
import io.lendstream.core.persistent.Bytes;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.schemas.codec.mapping.Shape;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Makes up values of any core type from the structure of its records, so that a new type needs no generator of its own.
 * What a constructor refuses is made up again: numbers keep to one range for a record, so that most bounds are met
 * soon.
 */
public final class AnyRecord {
    private static final int ATTEMPTS = 20_000;
    private static final String[] LETTERS = {"a", "b", "7", "-", ".", "/", ":", "A100", "é", "名", " x", "\uD83D\uDE80"};
    private static final double[] MAGNITUDES = {1, 9, 1000, 1e9};

    private final Random random;

    public AnyRecord(long seed) {
        this.random = new Random(seed);
    }

    public <T> T of(Class<T> type) {
        return type.cast(value(type, 1));
    }

    private Object value(Type type, double magnitude) {
        Shape shape = Shape.of(type);
        if (shape instanceof Shape.Scalar scalar) {
            return scalar(scalar.type(), magnitude);
        }
        if (shape instanceof Shape.Time) {
            return Instant.ofEpochMilli(1_000_000_000_000L + random.nextInt(1_000_000));
        }
        if (shape instanceof Shape.Length) {
            return Duration.ofMillis(random.nextInt(100_000));
        }
        if (shape instanceof Shape.Octets) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            return Bytes.of(bytes);
        }
        if (shape instanceof Shape.Choice choice) {
            Enum<?>[] constants = choice.type().getEnumConstants();
            return constants[random.nextInt(constants.length)];
        }
        if (shape instanceof Shape.Wrapper wrapper) {
            return made(wrapper.type(), () -> new Object[] {value(wrapper.value(), magnitude)});
        }
        if (shape instanceof Shape.Maybe maybe) {
            return random.nextInt(3) == 0 ? Optional.empty() : Optional.of(value(maybe.element(), magnitude));
        }
        if (shape instanceof Shape.Sequence sequence) {
            return list(sequence.element(), magnitude);
        }
        if (shape instanceof Shape.Dictionary dictionary) {
            return dictionary(dictionary);
        }
        if (shape instanceof Shape.Union union) {
            return value(union.cases().get(random.nextInt(union.cases().size())), magnitude);
        }
        Shape.Structure structure = (Shape.Structure) shape;
        return made(structure.type(), () -> components(structure.type(), structure.components()));
    }

    private Object[] components(Class<?> record, List<RecordComponent> components) {
        return components(record, components, MAGNITUDES[random.nextInt(MAGNITUDES.length)]);
    }

    /** @param record by which the bounds of the components are known */
    private Object[] components(Class<?> record, List<RecordComponent> components, double magnitude) {
        return components.stream()
                .map(component -> component(record, component, magnitude))
                .toArray();
    }

    private Object component(Class<?> record, RecordComponent component, double magnitude) {
        return Shape.flat(component)
                .map(flat -> made(flat.type(), () -> components(record, flat.components(), magnitude)))
                .orElseGet(() -> within(record, component.getName(), value(component.getGenericType(), magnitude)));
    }

    /** Numbers reach beyond bounds, which the codec would clamp. */
    private static Object within(Class<?> record, String component, Object value) {
        if (value instanceof Optional<?> optional) {
            return optional.map(inner -> within(record, component, inner));
        }
        if (value instanceof Double real) {
            return Limits.reals(record, component)
                    .map(bound -> bound.nearest(real))
                    .orElse(real);
        }
        return value instanceof Long number
                ? (Object) Limits.wholes(record, component, Long.class).nearest(number)
                : value;
    }

    /** Short as a rule; numbers are sometimes as many as a matrix has. */
    private List<Object> list(Type element, double magnitude) {
        List<Object> list = new ArrayList<>();
        boolean long_ = Shape.of(element) instanceof Shape.Scalar && random.nextInt(4) == 0;
        for (int i = random.nextInt(long_ ? 40 : 4); i > 0; i--) {
            list.add(value(element, magnitude));
        }
        return list;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // keys are texts or names, which are comparable
    private Object dictionary(Shape.Dictionary dictionary) {
        PersistentMap persistent = PersistentMap.empty();
        Map<Object, Object> map = new TreeMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            Object key = value(dictionary.key(), 1);
            Object value = value(dictionary.value(), 1);
            persistent = persistent.put((Comparable) key, value);
            map.put(key, value);
        }
        return dictionary.persistent() ? persistent : map;
    }

    private Object scalar(Class<?> type, double magnitude) {
        if (type == String.class) {
            StringBuilder text = new StringBuilder();
            for (int i = 1 + random.nextInt(5); i > 0; i--) {
                text.append(LETTERS[random.nextInt(LETTERS.length)]);
            }
            return text.toString();
        }
        if (type == boolean.class || type == Boolean.class) {
            return random.nextBoolean();
        }
        if (type == int.class || type == Integer.class) {
            return random.nextInt(random.nextBoolean() ? 9 : 50); // slices of a GPU are 8 at most, and several must fit
        }
        if (type == long.class || type == Long.class) {
            return random.nextInt(3) == 0 ? random.nextLong() >>> 1 : random.nextInt(50);
        }
        double number = magnitude == 9 ? 1 + 9 * random.nextDouble() : magnitude * random.nextDouble();
        return type == float.class || type == Float.class ? (Object) (float) number : (Object) number;
    }

    private Object made(Class<?> type, Supplier<Object[]> components) {
        Class<?>[] types =
                Shape.components(type).stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
        IllegalArgumentException last = new IllegalArgumentException("never tried");
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                var constructor = type.getDeclaredConstructor(types);
                constructor.setAccessible(true);
                return constructor.newInstance(components.get());
            } catch (java.lang.reflect.InvocationTargetException e) {
                if (!(e.getCause() instanceof IllegalArgumentException refused)) {
                    throw new IllegalStateException(e);
                }
                last = refused;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException(
                "no valid %s in %d attempts; the generator has to learn its bounds".formatted(type, ATTEMPTS), last);
    }
}
