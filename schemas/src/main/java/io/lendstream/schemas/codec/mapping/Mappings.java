package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.state.Owner;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;

/** Creates mappings, one for each pair of type and schema, however often the pair occurs. */
public final class Mappings {
    private final Map<String, Mapping> structures = new HashMap<>();
    private final Strictness strictness;

    private Mappings(Strictness strictness) {
        this.strictness = strictness;
    }

    /**
     * Returns the mapping between a type and a schema.
     *
     * @param strictness how out-of-bounds values are handled when a record is read
     * @throws MismatchException if the type and the schema do not fit; names the first place
     */
    public static Mapping of(Class<?> type, Schema schema, Strictness strictness) {
        return new Mappings(strictness).mapping(type, schema, type.getSimpleName(), new RecordField(type, "value"));
    }

    /** @param field the component that contains the value; it determines the bounds */
    private Mapping mapping(Type type, Schema schema, String path, RecordField field) {
        Shape shape = Shape.of(type);
        if (shape instanceof Shape.Scalar scalar) {
            return scalar(scalar.type(), schema, path, field);
        }
        if (shape instanceof Shape.Time) {
            return time(schema, path, field);
        }
        if (shape instanceof Shape.Length) {
            return length(schema, path, field);
        }
        if (shape instanceof Shape.Octets) {
            require(schema.getType() == Schema.Type.BYTES, path, "bytes need bytes", schema);
            return new OctetsMapping();
        }
        if (shape instanceof Shape.Choice choice) {
            return choice(choice, schema, path);
        }
        if (shape instanceof Shape.Wrapper wrapper) {
            return new WrapperMapping(new RecordAccess(wrapper.type()), wrapped(wrapper, schema, path), path);
        }
        if (shape instanceof Shape.Maybe maybe) {
            return new MaybeMapping(mapping(maybe.element(), notNull(schema, path), path, field));
        }
        if (shape instanceof Shape.Sequence sequence) {
            return sequence(sequence, schema, path, field);
        }
        if (shape instanceof Shape.Dictionary dictionary) {
            return dictionary(dictionary, schema, path, field);
        }
        return record(shape, type, schema, path);
    }

    /** The mapping of a record or of a union, which is created only once. */
    private Mapping record(Shape shape, Type type, Schema schema, String path) {
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

    private Mapping time(Schema schema, String path, RecordField field) {
        require(isTimestampMillis(schema), path, "a time needs a long with logical type timestamp-millis", schema);
        return new TimeMapping(guard(path, field), Limits.times(field.record(), field.component()));
    }

    private Mapping length(Schema schema, String path, RecordField field) {
        require(schema.getType() == Schema.Type.LONG, path, "a duration needs a long", schema);
        return new LengthMapping(guard(path, field), Limits.lengths(field.record(), field.component()));
    }

    private Mapping sequence(Shape.Sequence sequence, Schema schema, String path, RecordField field) {
        require(schema.getType() == Schema.Type.ARRAY, path, "a list needs an array", schema);
        return new SequenceMapping(
                schema,
                mapping(sequence.element(), schema.getElementType(), path + "[]", field),
                guard(path, field),
                Limits.entries(field.record()));
    }

    private Mapping dictionary(Shape.Dictionary dictionary, Schema schema, String path, RecordField field) {
        require(schema.getType() == Schema.Type.MAP, path, "a map needs a map", schema);
        return new DictionaryMapping(
                dictionary.persistent(),
                mapping(dictionary.key(), Schema.create(Schema.Type.STRING), path + " key", field),
                mapping(dictionary.value(), schema.getValueType(), path + "{}", field),
                guard(path, field),
                Limits.entries(field.record()));
    }

    private FieldBound guard(String path, RecordField field) {
        return new FieldBound(strictness, path, field.record().getSimpleName(), field.component());
    }

    /** A record around a text is a name, which has stricter rules than other texts. */
    private Mapping wrapped(Shape.Wrapper wrapper, Schema schema, String path) {
        if (wrapper.value() == String.class && strictness == Strictness.REFUSE) {
            scalar(String.class, schema, path, new RecordField(wrapper.type(), "value"));
            return new NameMapping(wrapper.type().getSimpleName(), path);
        }
        return mapping(wrapper.value(), schema, path, new RecordField(wrapper.type(), "value"));
    }

    private Mapping scalar(Class<?> type, Schema schema, String path, RecordField field) {
        Class<?> boxed = MethodType.methodType(type).wrap().returnType();
        Schema.Type wanted = Shape.scalarType(boxed);
        require(
                schema.getType() == wanted && schema.getLogicalType() == null,
                path,
                "%s needs a plain %s".formatted(type.getSimpleName(), wanted.getName()),
                schema);
        FieldBound guard = guard(path, field);
        if (boxed == String.class) {
            return new TextMapping(Limits.text(field.record()), guard);
        }
        if (boxed == Integer.class || boxed == Long.class) {
            return new WholeMapping(
                    boxed == Integer.class, Limits.wholes(field.record(), field.component(), boxed), guard);
        }
        Optional<Limits.Real> bounds =
                boxed == Boolean.class ? Optional.empty() : Limits.reals(field.record(), field.component());
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
        GroupMapping group = group(shape, shape.type(), schema, path, names);
        StructureMapping made = new StructureMapping(schema, group, defaultsElsewhere(schema, names, path));
        return strictness == Strictness.CLAMP && shape.type() == RequestRate.class
                ? new WindowMapping(
                        made,
                        schema.getField("windowStart").pos(),
                        schema.getField("windowEnd").pos())
                : made;
    }

    /**
     * Maps a record to fields of a schema.
     *
     * @param outer the record that the schema belongs to; it determines the bounds of all fields
     * @param names the field names so far; those of the record are added
     */
    private GroupMapping group(Shape.Structure shape, Class<?> outer, Schema schema, String path, List<String> names) {
        List<Part> parts = new ArrayList<>();
        for (RecordComponent component : shape.components()) {
            Optional<Shape.Structure> flat = Shape.flat(component);
            parts.add(
                    flat.isPresent()
                            ? group(flat.get(), outer, schema, path, names)
                            : field(component, outer, schema, path, names));
        }
        return new GroupMapping(new RecordAccess(shape.type()), parts, path);
    }

    private ComponentMapping field(
            RecordComponent component, Class<?> outer, Schema schema, String path, List<String> names) {
        String name = Shape.fieldName(component);
        if (names.contains(name)) {
            throw new MismatchException("%s: two components of %s map to the same field %s; rename one of them"
                    .formatted(path, outer.getName(), name));
        }
        Schema.Field field = schema.getField(name);
        if (field == null) {
            throw new MismatchException("%s: %s has a component %s, so schema %s needs a field %s, but has only %s"
                    .formatted(
                            path,
                            component.getDeclaringRecord().getName(),
                            component.getName(),
                            schema.getFullName(),
                            name,
                            fieldNames(schema)));
        }
        names.add(name);
        String at = path + "." + name;
        return new ComponentMapping(
                at,
                field.pos(),
                component.getType() == Optional.class,
                mapping(component.getGenericType(), field.schema(), at, new RecordField(outer, component.getName())));
    }

    private Mapping union(Shape.Union union, Schema schema, String path) {
        Schema.Field kind = schema.getField("kind");
        if (kind == null || kind.schema().getType() != Schema.Type.ENUM) {
            throw new MismatchException("%s: %s is a union, so schema %s needs an enum field 'kind', but has %s"
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

    /** The constant that stands for a kind unknown to this version, if the type names one. */
    private static Optional<Object> unknown(Class<?> union) {
        return union == Owner.class ? Optional.of(Owner.unknown()) : Optional.empty();
    }

    private CaseMapping caseMapping(Class<?> type, Schema kinds, String kindName, Schema schema, String path) {
        Object kind = new GenericData.EnumSymbol(kinds, kindName);
        if (Shape.components(type).isEmpty()) {
            RecordAccess only = new RecordAccess(type);
            return new CaseMapping(kind, Optional.empty(), new ConstantMapping(only.construct()));
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
                mapping(type, notNull(field.schema(), at), at, new RecordField(type, "value")));
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
        require(fits, path, "an optional value needs a union of null and one type, in this order", schema);
        return schema.getTypes().get(1);
    }

    private static void require(boolean fits, String path, String need, Schema schema) {
        if (!fits) {
            throw new MismatchException("%s: %s, but the schema has %s".formatted(path, need, schema));
        }
    }

    private static void requireSame(String path, String ours, List<String> left, String theirs, List<String> right) {
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

    /** The values to write, by position, into fields unknown to the type. */
    private static Map<Integer, Object> defaultsElsewhere(Schema schema, List<String> mapped, String path) {
        Map<Integer, Object> defaults = new HashMap<>();
        for (Schema.Field field : schema.getFields()) {
            if (mapped.contains(field.name())) {
                continue;
            }
            if (!field.hasDefaultValue()) {
                throw new MismatchException(
                        "%s: field %s of schema %s has no component in the type and no default; add a component or a default"
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
