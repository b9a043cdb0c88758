package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.persistent.Bytes;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.Flat;
import io.lendstream.core.persistent.PersistentMap;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;

/**
 * The wire form of a core type: the common rules of {@link io.lendstream.schemas.codec.RecordMapper} and {@link
 * io.lendstream.schemas.codec.SchemaDerivation}.
 */
public sealed interface Shape {
    String UNKNOWN = "UNKNOWN";

    /** A primitive: a text, a number or a boolean. */
    record Scalar(Class<?> type) implements Shape {}

    /** A time, in milliseconds since 1970. */
    record Time() implements Shape {}

    /** A duration in milliseconds; its field's name ends in {@code Millis}. */
    record Length() implements Shape {}

    /** Bytes, as they are. */
    record Octets() implements Shape {}

    record Choice(Class<? extends Enum<?>> type) implements Shape {}

    /** A record with one component called {@code value}: mapped like the component. */
    record Wrapper(Class<?> type, Type value) implements Shape {}

    record Maybe(Type element) implements Shape {}

    record Sequence(Type element) implements Shape {}

    /** A map with keys of text, or of a record that maps to text. */
    record Dictionary(boolean persistent, Type key, Type value) implements Shape {}

    record Structure(Class<?> type, List<RecordComponent> components) implements Shape {}

    /** A union of records: a {@code kind}, and a field for each case with components. */
    record Union(Class<?> type, List<Class<?>> cases) implements Shape {}

    static Shape of(Type type) {
        if (type instanceof ParameterizedType generic) {
            return ofGeneric(generic);
        }
        if (!(type instanceof Class<?> plain)) {
            throw new MismatchException(
                    "%s cannot be mapped: type variables have no shape of their own".formatted(type));
        }
        if (plain == Instant.class) {
            return new Time();
        }
        if (plain == Duration.class) {
            return new Length();
        }
        if (plain == Bytes.class) {
            return new Octets();
        }
        if (isScalar(plain)) {
            return new Scalar(plain);
        }
        if (plain.isEnum()) {
            @SuppressWarnings("unchecked") // isEnum
            Class<? extends Enum<?>> choice = (Class<? extends Enum<?>>) plain;
            return new Choice(choice);
        }
        if (plain.isRecord()) {
            List<RecordComponent> components = components(plain);
            return components.size() == 1 && components.get(0).getName().equals("value")
                    ? new Wrapper(plain, components.get(0).getGenericType())
                    : new Structure(plain, components);
        }
        if (plain.isSealed()) {
            return new Union(plain, cases(plain));
        }
        throw new MismatchException(
                "%s cannot be mapped: it must be a record, an enum, a sealed interface of records, a number, a text, a time, bytes, or an Optional, List or Map of these"
                        .formatted(plain.getName()));
    }

    /** The components of a record that are written; all others are derived from these. */
    static List<RecordComponent> components(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .filter(component -> !component.isAnnotationPresent(Derived.class))
                .toList();
    }

    /** The record whose components become fields of the enclosing record; empty if the component is one field. */
    static Optional<Structure> flat(RecordComponent component) {
        if (!component.isAnnotationPresent(Flat.class)) {
            return Optional.empty();
        }
        if (of(component.getGenericType()) instanceof Structure structure) {
            return Optional.of(structure);
        }
        throw new MismatchException("%s.%s is marked @Flat, but %s is not a record of several fields; remove @Flat"
                .formatted(
                        component.getDeclaringRecord().getName(),
                        component.getName(),
                        component.getGenericType().getTypeName()));
    }

    private static Shape ofGeneric(ParameterizedType generic) {
        Type[] arguments = generic.getActualTypeArguments();
        Class<?> raw = (Class<?>) generic.getRawType();
        if (raw == Optional.class) {
            return new Maybe(arguments[0]);
        }
        if (raw == List.class) {
            return new Sequence(arguments[0]);
        }
        if ((raw == Map.class || raw == PersistentMap.class) && isText(arguments[0])) {
            return new Dictionary(raw == PersistentMap.class, arguments[0], arguments[1]);
        }
        throw new MismatchException(
                "%s cannot be mapped: it must be Optional, List, or Map or PersistentMap with text keys"
                        .formatted(generic));
    }

    private static List<Class<?>> cases(Class<?> union) {
        List<Class<?>> cases = new ArrayList<>();
        for (Class<?> permitted : union.getPermittedSubclasses()) {
            if (!permitted.isRecord()) {
                throw new MismatchException("%s cannot be mapped: its case %s is not a record"
                        .formatted(union.getName(), permitted.getName()));
            }
            cases.add(permitted);
        }
        return cases;
    }

    private static boolean isScalar(Class<?> type) {
        return type == String.class
                || type == boolean.class
                || type == Boolean.class
                || type == int.class
                || type == Integer.class
                || type == long.class
                || type == Long.class
                || type == float.class
                || type == Float.class
                || type == double.class
                || type == Double.class;
    }

    private static boolean isText(Type type) {
        Shape shape = of(type);
        return shape.equals(new Scalar(String.class)) || (shape instanceof Wrapper wrapper && isText(wrapper.value));
    }

    /** The name of a component's field: its own name, with {@code Millis} added for durations. */
    static String fieldName(RecordComponent component) {
        return component.getName() + (holdsLengths(component.getGenericType()) ? "Millis" : "");
    }

    private static boolean holdsLengths(Type type) {
        Shape shape = of(type);
        if (shape instanceof Maybe maybe) {
            return holdsLengths(maybe.element);
        }
        if (shape instanceof Sequence sequence) {
            return holdsLengths(sequence.element);
        }
        if (shape instanceof Dictionary dictionary) {
            return holdsLengths(dictionary.value);
        }
        return shape instanceof Length;
    }

    /** {@code NodeLeft} as a kind: {@code NODE_LEFT}. */
    static String kindName(Class<?> type) {
        return type.getSimpleName().replaceAll("(?<=.)(?=[A-Z])", "_").toUpperCase(Locale.ROOT);
    }

    /** {@code NodeLeft} as a field: {@code nodeLeft}. */
    static String caseFieldName(Class<?> type) {
        String name = type.getSimpleName();
        return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    }

    static List<String> symbols(Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants()).map(Enum::name).toList();
    }

    /** The wire type of a primitive. */
    static Schema.Type scalarType(Class<?> type) {
        if (type == String.class) {
            return Schema.Type.STRING;
        }
        if (type == boolean.class || type == Boolean.class) {
            return Schema.Type.BOOLEAN;
        }
        if (type == int.class || type == Integer.class) {
            return Schema.Type.INT;
        }
        if (type == long.class || type == Long.class) {
            return Schema.Type.LONG;
        }
        return type == float.class || type == Float.class ? Schema.Type.FLOAT : Schema.Type.DOUBLE;
    }
}
