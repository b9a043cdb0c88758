package io.lendstream.schemas.codec;

import io.lendstream.core.persistent.WhenAbsent;
import io.lendstream.schemas.codec.mapping.Shape;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.JsonProperties;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/**
 * Derives an Avro schema from a core type, by the rules of {@link RecordMapper}. It is for a service's own state.
 * Records for other services have hand-written schemas that outlive the type.
 *
 * <p>Options, lists and maps are empty in an entry that was written before they were added; an enum with a constant
 * {@code UNKNOWN} has that. Numbers and booleans have the value of {@link WhenAbsent}, if there is one.
 */
public final class SchemaDerivation {
    /** Namespace of derived types, separate from that of the topics. */
    public static final String NAMESPACE = "io.lendstream.state";

    private final Map<Class<?>, Schema> named = new HashMap<>();

    private SchemaDerivation() {}

    public static Schema of(Class<?> type) {
        return new SchemaDerivation().schema(type);
    }

    private Schema schema(Type type) {
        Shape shape = Shape.of(type);
        if (shape instanceof Shape.Scalar scalar) {
            return Schema.create(Shape.scalarType(scalar.type()));
        }
        if (shape instanceof Shape.Time) {
            return LogicalTypes.timestampMillis().addToSchema(Schema.create(Schema.Type.LONG));
        }
        if (shape instanceof Shape.Length || shape instanceof Shape.Octets) {
            return Schema.create(shape instanceof Shape.Length ? Schema.Type.LONG : Schema.Type.BYTES);
        }
        if (shape instanceof Shape.Choice choice) {
            return named.computeIfAbsent(
                    choice.type(), key -> enumeration(name(choice.type()), Shape.symbols(choice.type())));
        }
        if (shape instanceof Shape.Wrapper wrapper) {
            return schema(wrapper.value());
        }
        if (shape instanceof Shape.Maybe maybe) {
            return nullable(schema(maybe.element()));
        }
        if (shape instanceof Shape.Sequence sequence) {
            return Schema.createArray(schema(sequence.element()));
        }
        if (shape instanceof Shape.Dictionary dictionary) {
            return Schema.createMap(schema(dictionary.value()));
        }
        Class<?> named = (Class<?>) type;
        Schema known = this.named.get(named);
        if (known != null) {
            return known;
        }
        Schema record = Schema.createRecord(name(named), null, NAMESPACE, false);
        this.named.put(named, record);
        record.setFields(
                shape instanceof Shape.Union union ? fields(union) : fields(((Shape.Structure) shape).components()));
        return record;
    }

    private List<Schema.Field> fields(List<RecordComponent> components) {
        List<Schema.Field> fields = new ArrayList<>();
        for (RecordComponent component : components) {
            Shape.flat(component)
                    .ifPresentOrElse(
                            flat -> fields.addAll(fields(flat.components())), () -> fields.add(field(component)));
        }
        return fields;
    }

    private List<Schema.Field> fields(Shape.Union union) {
        Set<String> kinds = new LinkedHashSet<>(List.of(Shape.UNKNOWN));
        List<Schema.Field> fields = new ArrayList<>();
        for (Class<?> type : union.cases()) {
            kinds.add(Shape.kindName(type));
            if (type.getRecordComponents().length > 0) {
                fields.add(field(Shape.caseFieldName(type), nullable(schema(type))));
            }
        }
        fields.add(0, field("kind", enumeration(name(union.type()) + "Kind", List.copyOf(kinds))));
        return fields;
    }

    private Schema.Field field(RecordComponent component) {
        String name = Shape.fieldName(component);
        Schema schema = schema(component.getGenericType());
        WhenAbsent absent = component.getAnnotation(WhenAbsent.class);
        if (absent == null) {
            return field(name, schema);
        }
        return switch (schema.getType()) {
            case INT -> new Schema.Field(name, schema, null, Integer.parseInt(absent.value()));
            case BOOLEAN -> new Schema.Field(name, schema, null, Boolean.parseBoolean(absent.value()));
            default ->
                throw new IllegalArgumentException(
                        "@WhenAbsent is for int and boolean, but %s is %s".formatted(component, schema));
        };
    }

    /** A field that older entries may lack, if it can be empty or unknown. */
    private static Schema.Field field(String name, Schema schema) {
        return switch (schema.getType()) {
            case UNION -> new Schema.Field(name, schema, null, JsonProperties.NULL_VALUE);
            case ARRAY -> new Schema.Field(name, schema, null, List.of());
            case MAP -> new Schema.Field(name, schema, null, Map.of());
            case ENUM -> new Schema.Field(name, schema, null, schema.getEnumDefault());
            default -> new Schema.Field(name, schema);
        };
    }

    private static Schema nullable(Schema schema) {
        return Schema.createUnion(Schema.create(Schema.Type.NULL), schema);
    }

    private static Schema enumeration(String name, List<String> symbols) {
        String otherwise = symbols.contains(Shape.UNKNOWN) ? Shape.UNKNOWN : null;
        return Schema.createEnum(name, null, NAMESPACE, symbols, otherwise);
    }

    /** {@code Owner.Free} is {@code OwnerFree}. */
    private static String name(Class<?> type) {
        Class<?> around = type.getDeclaringClass();
        return around == null ? type.getSimpleName() : name(around) + type.getSimpleName();
    }
}
