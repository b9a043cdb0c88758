package io.lendstream.schemas.codec;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.schemas.serde.AvroBytes;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.jspecify.annotations.Nullable;

/**
 * Turns records of a core type into Avro records of a schema and back, field by field of the same name.
 *
 * <p>A component {@code Instant x} is a field {@code x} of timestamp-millis, {@code Duration x} a long {@code xMillis}; both
 * are cut to milliseconds. A record with the single component {@code value} looks like that component; an Optional is a
 * union with null; a sealed interface of records is a record with an enum {@code kind} and a nullable field for each case,
 * except those without components, of which the kind says all. Maps are written in the order of their keys, so equal
 * records give equal bytes.
 *
 * <p>A schema may have fields that the type lacks if they have a default. Mappers may be used by many threads.
 */
public final class RecordMapper<T> {
    private final Class<T> type;
    private final Schema schema;
    private final Mapping mapping;

    private RecordMapper(Class<T> type, Schema schema, Mapping mapping) {
        this.type = type;
        this.schema = schema;
        this.mapping = mapping;
    }

    /**
     * The mapper between a type and a schema that clamps what it reads: for what this system wrote.
     *
     * @throws MismatchException where the two do not fit, naming the first place where they do not
     */
    public static <T> RecordMapper<T> of(Class<T> type, Schema schema) {
        return of(type, schema, Strictness.CLAMP);
    }

    /**
     * The mapper between a type and a schema.
     *
     * @param strictness what becomes of values out of bounds when a record is read
     * @throws MismatchException where the two do not fit, naming the first place where they do not
     */
    public static <T> RecordMapper<T> of(Class<T> type, Schema schema, Strictness strictness) {
        Mapping mapping = new Builder(strictness).mapping(type, schema, type.getSimpleName(), new Owner(type, "value"));
        if (schema.getType() != Schema.Type.RECORD) {
            throw new MismatchException("%s is mapped to %s; only a record can be a topic's value"
                    .formatted(type.getName(), schema.getType()));
        }
        return new RecordMapper<>(type, schema, mapping);
    }

    public Schema schema() {
        return schema;
    }

    public GenericRecord encode(T value) {
        return (GenericRecord) mapping.encode(value);
    }

    /**
     * The core record that an Avro record stands for.
     *
     * @param record in this mapper's schema, or in another that can be resolved to it
     * @throws io.lendstream.schemas.serde.PoisonRecordException where the record cannot be a {@code T}
     */
    public T decode(GenericRecord record) {
        return type.cast(mapping.decode(AvroBytes.resolve(record, schema)));
    }

    /** One direction each for a value that is there. */
    private interface Mapping {
        Object encode(Object value);

        Object decode(Object wire);
    }

    /** Makes mappings, one for each type and schema that meet, however often they do. */
    private static final class Builder {
        private final Map<String, Mapping> structures = new HashMap<>();
        private final Strictness strictness;

        Builder(Strictness strictness) {
            this.strictness = strictness;
        }

        /** @param owner the component that the value is part of, by which its bounds are known */
        Mapping mapping(Type type, Schema schema, String path, Owner owner) {
            Shape shape = Shape.of(type);
            if (shape instanceof Shape.Scalar scalar) {
                return scalar(scalar.type(), schema, path, owner);
            }
            if (shape instanceof Shape.Time) {
                require(
                        isTimestampMillis(schema),
                        path,
                        "a time needs a long with logical type timestamp-millis",
                        schema);
                return new TimeMapping(guard(path, owner), Limits.times(owner.record, owner.component));
            }
            if (shape instanceof Shape.Length) {
                require(schema.getType() == Schema.Type.LONG, path, "a length of time needs a long", schema);
                return new LengthMapping(guard(path, owner), Limits.lengths(owner.record, owner.component));
            }
            if (shape instanceof Shape.Choice choice) {
                return choice(choice, schema, path);
            }
            if (shape instanceof Shape.Wrapper wrapper) {
                return new WrapperMapping(new Structure(wrapper.type()), wrapped(wrapper, schema, path), path);
            }
            if (shape instanceof Shape.Maybe maybe) {
                return new MaybeMapping(mapping(maybe.element(), notNull(schema, path), path, owner));
            }
            if (shape instanceof Shape.Sequence sequence) {
                require(schema.getType() == Schema.Type.ARRAY, path, "a list needs an array", schema);
                return new SequenceMapping(
                        schema,
                        mapping(sequence.element(), schema.getElementType(), path + "[]", owner),
                        guard(path, owner),
                        Limits.entries(owner.record));
            }
            if (shape instanceof Shape.Dictionary dictionary) {
                require(schema.getType() == Schema.Type.MAP, path, "a map needs a map", schema);
                return new DictionaryMapping(
                        dictionary.persistent(),
                        mapping(dictionary.key(), Schema.create(Schema.Type.STRING), path + " key", owner),
                        mapping(dictionary.value(), schema.getValueType(), path + "{}", owner),
                        guard(path, owner),
                        Limits.entries(owner.record));
            }
            require(schema.getType() == Schema.Type.RECORD, path, type.getTypeName() + " needs a record", schema);
            String pair = type.getTypeName() + " as " + schema.getFullName();
            Mapping known = structures.get(pair);
            if (known != null) {
                return known;
            }
            Mapping made = shape instanceof Shape.Union union
                    ? union(union, schema, path)
                    : structure((Shape.Structure) shape, schema, path);
            structures.put(pair, made);
            return made;
        }

        private FieldBound guard(String path, Owner owner) {
            return new FieldBound(strictness, path, owner.record.getSimpleName(), owner.component);
        }

        /** A record around a text is a name, for which there is a stricter rule than for any other text. */
        private Mapping wrapped(Shape.Wrapper wrapper, Schema schema, String path) {
            if (wrapper.value() == String.class && strictness == Strictness.REFUSE) {
                scalar(String.class, schema, path, new Owner(wrapper.type(), "value"));
                return new NameMapping(wrapper.type().getSimpleName(), path);
            }
            return mapping(wrapper.value(), schema, path, new Owner(wrapper.type(), "value"));
        }

        private Mapping scalar(Class<?> type, Schema schema, String path, Owner owner) {
            Class<?> boxed = MethodType.methodType(type).wrap().returnType();
            Schema.Type wanted = SchemaDerivation.scalarType(boxed);
            require(
                    schema.getType() == wanted && schema.getLogicalType() == null,
                    path,
                    "%s needs a plain %s".formatted(type.getSimpleName(), wanted.getName()),
                    schema);
            FieldBound guard = guard(path, owner);
            if (boxed == String.class) {
                return new TextMapping(Limits.text(owner.record), guard);
            }
            if (boxed == Integer.class || boxed == Long.class) {
                return new WholeMapping(
                        boxed == Integer.class, Limits.wholes(owner.record, owner.component, boxed), guard);
            }
            Optional<Limits.Real> bounds =
                    boxed == Boolean.class ? Optional.empty() : Limits.reals(owner.record, owner.component);
            return bounds.<Mapping>map(real -> new RealMapping(boxed == Float.class, real, guard))
                    .orElseGet(ScalarMapping::new);
        }

        private static Mapping choice(Shape.Choice choice, Schema schema, String path) {
            require(schema.getType() == Schema.Type.ENUM, path, "an enum needs an enum", schema);
            List<String> symbols = Shape.symbols(choice.type());
            requireSame(path, "constants of " + choice.type().getName(), symbols, "symbols", schema.getEnumSymbols());
            Map<String, Object> constants = new HashMap<>();
            Map<Object, Object> wire = new HashMap<>();
            for (Enum<?> constant : choice.type().getEnumConstants()) {
                constants.put(constant.name(), constant);
                wire.put(constant, new GenericData.EnumSymbol(schema, constant.name()));
            }
            return new ChoiceMapping(constants, wire);
        }

        private Mapping structure(Shape.Structure shape, Schema schema, String path) {
            List<String> names = new ArrayList<>();
            List<ComponentMapping> components = new ArrayList<>();
            for (RecordComponent component : shape.components()) {
                String name = Shape.fieldName(component);
                Schema.Field field = schema.getField(name);
                if (field == null) {
                    throw new MismatchException(
                            "%s: %s has a component %s, so schema %s needs a field %s, but has only %s"
                                    .formatted(
                                            path,
                                            shape.type().getName(),
                                            component.getName(),
                                            schema.getFullName(),
                                            name,
                                            fieldNames(schema)));
                }
                String at = path + "." + name;
                boolean optional = component.getType() == Optional.class;
                names.add(name);
                components.add(new ComponentMapping(
                        at,
                        field.pos(),
                        optional,
                        mapping(
                                component.getGenericType(),
                                field.schema(),
                                at,
                                new Owner(shape.type(), component.getName()))));
            }
            StructureMapping made = new StructureMapping(
                    schema, new Structure(shape.type()), components, defaultsElsewhere(schema, names, path), path);
            return strictness == Strictness.CLAMP && shape.type() == RequestRate.class
                    ? new WindowMapping(
                            made,
                            schema.getField("windowStart").pos(),
                            schema.getField("windowEnd").pos())
                    : made;
        }

        private Mapping union(Shape.Union union, Schema schema, String path) {
            Schema.Field kind = schema.getField("kind");
            if (kind == null || kind.schema().getType() != Schema.Type.ENUM) {
                throw new MismatchException(
                        "%s: %s is one of several, so schema %s needs an enum field 'kind', but has %s"
                                .formatted(path, union.type().getName(), schema.getFullName(), fieldNames(schema)));
            }
            List<String> kinds = new ArrayList<>(List.of(Shape.UNKNOWN));
            List<String> names = new ArrayList<>(List.of("kind"));
            Map<Class<?>, CaseMapping> byType = new HashMap<>();
            Map<String, CaseMapping> byKind = new HashMap<>();
            for (Class<?> type : union.cases()) {
                String kindName = Shape.kindName(type);
                kinds.add(kindName);
                CaseMapping mapped = caseMapping(type, kind.schema(), kindName, schema, path);
                mapped.field().ifPresent(field -> names.add(field.name()));
                byType.put(type, mapped);
                byKind.put(kindName, mapped);
            }
            requireSame(
                    path,
                    "cases of " + union.type().getName(),
                    kinds,
                    "kinds",
                    kind.schema().getEnumSymbols());
            Map<Integer, Object> defaults = defaultsElsewhere(schema, names, path);
            return new UnionMapping(schema, kind.pos(), byType, byKind, defaults, unknown(union.type()), path);
        }

        /** What a kind that this version does not know is taken for, where the type says so. */
        private static Optional<Object> unknown(Class<?> union) {
            return union == io.lendstream.core.state.Owner.class
                    ? Optional.of(io.lendstream.core.state.Owner.unknown())
                    : Optional.empty();
        }

        private CaseMapping caseMapping(Class<?> type, Schema kinds, String kindName, Schema schema, String path) {
            Object kind = new GenericData.EnumSymbol(kinds, kindName);
            if (Shape.components(type).isEmpty()) {
                Structure only = new Structure(type);
                return new CaseMapping(kind, Optional.empty(), new ConstantMapping(only.create()));
            }
            String name = Shape.caseFieldName(type);
            Schema.Field field = schema.getField(name);
            if (field == null) {
                throw new MismatchException("%s: schema %s needs a field %s for the case %s, but has only %s"
                        .formatted(path, schema.getFullName(), name, type.getName(), fieldNames(schema)));
            }
            String at = path + "." + name;
            return new CaseMapping(
                    kind,
                    Optional.of(new CaseField(name, field.pos())),
                    mapping(type, notNull(field.schema(), at), at, new Owner(type, "value")));
        }

        private static boolean isTimestampMillis(Schema schema) {
            return schema.getType() == Schema.Type.LONG
                    && schema.getLogicalType() != null
                    && schema.getLogicalType().getName().equals("timestamp-millis");
        }

        private static Schema notNull(Schema schema, String path) {
            boolean fits = schema.getType() == Schema.Type.UNION
                    && schema.getTypes().size() == 2
                    && schema.getTypes().get(0).getType() == Schema.Type.NULL;
            require(fits, path, "what may be absent needs a union of null and one type, in this order", schema);
            return schema.getTypes().get(1);
        }

        private static void require(boolean fits, String path, String need, Schema schema) {
            if (!fits) {
                throw new MismatchException("%s: %s, but the schema has %s".formatted(path, need, schema));
            }
        }

        private static void requireSame(
                String path, String ours, List<String> left, String theirs, List<String> right) {
            Set<String> onlyLeft = new TreeSet<>(left);
            onlyLeft.removeAll(new HashSet<>(right));
            Set<String> onlyRight = new TreeSet<>(right);
            onlyRight.removeAll(new HashSet<>(left));
            if (!onlyLeft.isEmpty() || !onlyRight.isEmpty()) {
                throw new MismatchException(
                        "%s: %s and the schema's %s must be the same, but only the type has %s and only the schema has %s"
                                .formatted(path, ours, theirs, onlyLeft, onlyRight));
            }
        }

        /** What to write, by position, into fields that the type knows nothing of. */
        private static Map<Integer, Object> defaultsElsewhere(Schema schema, List<String> mapped, String path) {
            Map<Integer, Object> defaults = new HashMap<>();
            for (Schema.Field field : schema.getFields()) {
                if (mapped.contains(field.name())) {
                    continue;
                }
                if (!field.hasDefaultValue()) {
                    throw new MismatchException(
                            "%s: field %s of schema %s belongs to nothing in the type and has no default; add a component or a default"
                                    .formatted(path, field.name(), schema.getFullName()));
                }
                Object value = GenericData.get().getDefaultValue(field);
                if (value != null) {
                    defaults.put(field.pos(), value);
                }
            }
            return defaults;
        }

        private static List<String> fieldNames(Schema schema) {
            return schema.getFields().stream().map(Schema.Field::name).toList();
        }
    }

    /** A record class's accessors and constructor, made callable once. */
    private static final class Structure {
        private final List<MethodHandle> accessors = new ArrayList<>();
        private final MethodHandle constructor;

        Structure(Class<?> type) {
            List<RecordComponent> components = Shape.components(type);
            Class<?>[] types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
            try {
                MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
                for (RecordComponent component : components) {
                    accessors.add(lookup.unreflect(component.getAccessor())
                            .asType(MethodType.methodType(Object.class, Object.class)));
                }
                Constructor<?> canonical = type.getDeclaredConstructor(types);
                constructor = lookup.unreflectConstructor(canonical)
                        .asSpreader(Object[].class, types.length)
                        .asType(MethodType.methodType(Object.class, Object[].class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("cannot look into record " + type.getName(), e);
            }
        }

        Object get(int index, Object record) {
            try {
                return (Object) accessors.get(index).invokeExact(record);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("an accessor threw " + e, e);
            }
        }

        Object create(Object... values) {
            try {
                return (Object) constructor.invokeExact(values);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("a constructor threw " + e, e);
            }
        }
    }

    /** The component of a record that a value is part of. */
    private record Owner(Class<?> record, String component) {}

    /** A truth, or a number that may be any. */
    private record ScalarMapping() implements Mapping {
        @Override
        public Object encode(Object value) {
            return value;
        }

        @Override
        public Object decode(Object wire) {
            return wire;
        }
    }

    private record TextMapping(int most, FieldBound guard) implements Mapping {
        @Override
        public Object encode(Object value) {
            return value;
        }

        @Override
        public Object decode(Object wire) {
            String text = wire.toString();
            if (text.length() <= most) {
                return text;
            }
            guard.cut(text.length(), most);
            return Limits.cut(text, most);
        }
    }

    private record NameMapping(String kind, String path) implements Mapping {
        @Override
        public Object encode(Object value) {
            return value;
        }

        @Override
        public Object decode(Object wire) {
            try {
                return Limits.name(kind, wire.toString());
            } catch (IllegalArgumentException e) {
                throw new OutOfBoundsException("%s is not valid: %s".formatted(path, e.getMessage()), e);
            }
        }
    }

    private record WholeMapping(boolean narrow, Limits.Whole bounds, FieldBound guard) implements Mapping {
        @Override
        public Object encode(Object value) {
            return value;
        }

        @Override
        public Object decode(Object wire) {
            long value = ((Number) wire).longValue();
            if (bounds.includes(value)) {
                return wire;
            }
            long nearest = guard.nearest(value, bounds);
            return narrow ? (Object) Math.toIntExact(nearest) : (Object) nearest;
        }
    }

    private record RealMapping(boolean narrow, Limits.Real bounds, FieldBound guard) implements Mapping {
        @Override
        public Object encode(Object value) {
            return value;
        }

        @Override
        public Object decode(Object wire) {
            double value = ((Number) wire).doubleValue();
            if (bounds.includes(value)) {
                return wire;
            }
            double nearest = guard.nearest(value, bounds);
            return narrow ? (Object) (float) nearest : (Object) nearest;
        }
    }

    private record TimeMapping(FieldBound guard, Limits.Whole bounds) implements Mapping {
        @Override
        public Object encode(Object value) {
            return Limits.millis((Instant) value);
        }

        @Override
        public Object decode(Object wire) {
            long millis = wire instanceof Instant instant ? Limits.millis(instant) : (Long) wire;
            return Instant.ofEpochMilli(bounds.includes(millis) ? millis : guard.nearestTime(millis, bounds));
        }
    }

    private record LengthMapping(FieldBound guard, Limits.Whole bounds) implements Mapping {
        @Override
        public Object encode(Object value) {
            return Limits.millis((Duration) value);
        }

        @Override
        public Object decode(Object wire) {
            long millis = (Long) wire;
            return Duration.ofMillis(bounds.includes(millis) ? millis : guard.nearest(millis, bounds));
        }
    }

    private record ChoiceMapping(Map<String, Object> constants, Map<Object, Object> wire) implements Mapping {
        @Override
        public Object encode(Object value) {
            return wire.get(value);
        }

        @Override
        public Object decode(Object symbol) {
            return constants.get(symbol.toString());
        }
    }

    private record WrapperMapping(Structure structure, Mapping value, String path) implements Mapping {
        @Override
        public Object encode(Object wrapper) {
            return value.encode(structure.get(0, wrapper));
        }

        @Override
        public Object decode(Object wire) {
            return created(structure, path, value.decode(wire));
        }
    }

    private record MaybeMapping(Mapping element) implements Mapping {
        @Override
        public @Nullable Object encode(Object value) {
            return ((Optional<?>) value).map(element::encode).orElse(null);
        }

        @Override
        public Object decode(@Nullable Object wire) {
            return Optional.ofNullable(wire).map(element::decode);
        }
    }

    private record SequenceMapping(Schema schema, Mapping element, FieldBound guard, int most) implements Mapping {
        @Override
        public Object encode(Object value) {
            List<?> list = (List<?>) value;
            List<Object> wire = new GenericData.Array<>(list.size(), schema);
            list.forEach(one -> wire.add(element.encode(one)));
            return wire;
        }

        @Override
        public Object decode(Object wire) {
            List<?> list = (List<?>) wire;
            int size = list.size() <= most ? list.size() : guard.entries(list.size(), most);
            List<Object> value = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                value.add(element.decode(list.get(i)));
            }
            return value;
        }
    }

    private record DictionaryMapping(boolean persistent, Mapping key, Mapping value, FieldBound guard, int most)
            implements Mapping {
        @Override
        public Object encode(Object map) {
            Map<String, Object> sorted = new TreeMap<>();
            if (map instanceof PersistentMap<?, ?> entries) {
                for (Map.Entry<?, ?> entry : entries) {
                    sorted.put((String) key.encode(entry.getKey()), value.encode(entry.getValue()));
                }
            } else {
                ((Map<?, ?>) map).forEach((k, v) -> sorted.put((String) key.encode(k), value.encode(v)));
            }
            return sorted;
        }

        @Override
        public Object decode(Object wire) {
            TreeMap<String, Object> sorted = new TreeMap<>();
            ((Map<?, ?>) wire).forEach((k, v) -> sorted.put(k.toString(), v));
            if (sorted.size() > most) {
                guard.entries(sorted.size(), most);
                while (sorted.size() > most) {
                    sorted.pollLastEntry();
                }
            }
            if (persistent) {
                return persistentMap(sorted);
            }
            Map<Object, Object> map = new LinkedHashMap<>();
            sorted.forEach((k, v) -> map.put(key.decode(k), value.decode(v)));
            return map;
        }

        @SuppressWarnings({"unchecked", "rawtypes"}) // the component's own type says that its keys are comparable
        private Object persistentMap(Map<String, Object> sorted) {
            PersistentMap map = PersistentMap.empty();
            for (Map.Entry<String, Object> entry : sorted.entrySet()) {
                map = map.put((Comparable) key.decode(entry.getKey()), value.decode(entry.getValue()));
            }
            return map;
        }
    }

    private record ComponentMapping(String path, int position, boolean optional, Mapping mapping) {}

    private record StructureMapping(
            Schema schema,
            Structure structure,
            List<ComponentMapping> components,
            Map<Integer, Object> defaults,
            String path)
            implements Mapping {
        @Override
        public Object encode(Object value) {
            GenericData.Record wire = new GenericData.Record(schema);
            defaults.forEach(wire::put);
            for (int i = 0; i < components.size(); i++) {
                ComponentMapping component = components.get(i);
                wire.put(component.position, component.mapping.encode(structure.get(i, value)));
            }
            return wire;
        }

        @Override
        public Object decode(Object wire) {
            IndexedRecord record = (IndexedRecord) wire;
            Object[] values = new Object[components.size()];
            for (int i = 0; i < values.length; i++) {
                ComponentMapping component = components.get(i);
                Object value = record.get(component.position);
                if (value == null && !component.optional) {
                    throw new InvalidRecordException(component.path + " is missing", null);
                }
                values[i] = component.mapping.decode(value);
            }
            return created(structure, path, values);
        }
    }

    /** Clamps a window as a whole: its length sets the rate of requests, so it is kept. */
    private record WindowMapping(StructureMapping rate, int start, int end) implements Mapping {
        @Override
        public Object encode(Object value) {
            return rate.encode(value);
        }

        @Override
        public Object decode(Object wire) {
            IndexedRecord record = (IndexedRecord) wire;
            Limits.Whole bounds = Limits.times(RequestRate.class, "windowEnd");
            if (record.get(end) instanceof Long till
                    && record.get(start) instanceof Long from
                    && from < till
                    && !bounds.includes(till)) {
                long length =
                        Math.min(Limits.LONGEST_WINDOW.toMillis(), till - from > 0 ? till - from : Long.MAX_VALUE);
                Clamped.count("RequestRate", "windowEnd");
                long nearest = Math.max(bounds.nearest(till), bounds.least() - 1 + length);
                GenericData.Record shifted = new GenericData.Record((GenericData.Record) record, false);
                shifted.put(start, nearest - length);
                shifted.put(end, nearest);
                return rate.decode(shifted);
            }
            return rate.decode(record);
        }
    }

    private record CaseField(String name, int position) {}

    private record CaseMapping(Object kind, Optional<CaseField> field, Mapping mapping) {}

    /** A case without components is always the same. */
    private record ConstantMapping(Object value) implements Mapping {
        @Override
        public Object encode(Object ignored) {
            throw new IllegalStateException("a case without components has no field");
        }

        @Override
        public Object decode(Object ignored) {
            return value;
        }
    }

    private record UnionMapping(
            Schema schema,
            int kindPosition,
            Map<Class<?>, CaseMapping> byType,
            Map<String, CaseMapping> byKind,
            Map<Integer, Object> defaults,
            Optional<Object> unknown,
            String path)
            implements Mapping {
        @Override
        public Object encode(Object value) {
            CaseMapping chosen = byType.get(value.getClass());
            if (chosen == null) {
                throw new IllegalStateException(path + " is of no known case: " + value.getClass());
            }
            GenericData.Record wire = new GenericData.Record(schema);
            defaults.forEach(wire::put);
            wire.put(kindPosition, chosen.kind);
            chosen.field.ifPresent(field -> wire.put(field.position, chosen.mapping.encode(value)));
            return wire;
        }

        @Override
        public Object decode(Object wire) {
            if (unknown.isEmpty()) {
                return known(wire);
            }
            try {
                return known(wire);
            } catch (UnknownKindException e) { // its own kind, or one within it
                return unknown.get();
            }
        }

        private Object known(Object wire) {
            IndexedRecord record = (IndexedRecord) wire;
            String kind = record.get(kindPosition).toString();
            CaseMapping chosen = byKind.get(kind);
            if (chosen == null) {
                throw new UnknownKindException(
                        "%s is of a kind that this version does not know; a newer one wrote it".formatted(path));
            }
            if (chosen.field.isEmpty()) {
                return chosen.mapping.decode(record);
            }
            CaseField field = chosen.field.get();
            Object value = record.get(field.position);
            if (value == null) {
                throw new InvalidRecordException(
                        "%s says kind %s, but its field %s is null".formatted(path, kind, field.name), null);
            }
            return chosen.mapping.decode(value);
        }
    }

    private static Object created(Structure structure, String path, Object... values) {
        try {
            return structure.create(values);
        } catch (IllegalArgumentException | java.time.DateTimeException | ArithmeticException e) {
            throw new InvalidRecordException("%s is not valid: %s".formatted(path, e.getMessage()), e);
        }
    }
}
