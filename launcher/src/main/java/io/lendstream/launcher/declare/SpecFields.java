package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * A group of fields.
 *
 * @param what the group in messages: {@code a shape of a replica}
 * @param fields in the order in which files have them
 */
record SpecFields<R>(String what, List<SpecField<R, ?>> fields) {
    SpecFields {
        fields = List.copyOf(fields);
    }

    /**
     * Reads the fields, of which none may be unknown. All errors are found; a field does not count as missing if an
     * unknown one may be this field, mistyped.
     */
    SpecValues read(SourceValue value, ValuePlace place) {
        if (!(value instanceof SourceValue.Fields source)) {
            throw place.mustBe(value, takes());
        }
        List<String> known = fields.stream().map(SpecField::name).toList();
        ProblemList problems = new ProblemList();
        Set<String> mistyped = new HashSet<>();
        source.values().keySet().stream().filter(name -> !known.contains(name)).forEach(name -> {
            mistyped.addAll(ValuePlace.nearest(name, known));
            problems.check(() -> {
                throw place.unknown(name, Objects.requireNonNull(source.values().get(name)), known);
            });
        });
        Map<String, Object> values = new HashMap<>();
        fields.stream()
                .filter(field -> source.values().containsKey(field.name()) || !mistyped.contains(field.name()))
                .forEach(field -> problems.check(() -> field.read(source, place, values)));
        problems.stop();
        return new SpecValues(values);
    }

    /** The group for people, with its mandatory fields. */
    String takes() {
        List<String> mandatory = fields.stream()
                .filter(SpecField::isMandatory)
                .map(SpecField::name)
                .toList();
        return mandatory.isEmpty() ? what : "%s with %s".formatted(what, String.join(", ", mandatory));
    }

    ObjectNode write(R value) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        fields.forEach(field -> field.write(value, object));
        return object;
    }

    ObjectNode schema() {
        ObjectNode schema = ScalarForms.typed("object").put("additionalProperties", false);
        ObjectNode properties = schema.putObject("properties");
        fields.forEach(field -> properties.set(field.name(), field.schema()));
        List<String> mandatory = fields.stream()
                .filter(SpecField::isMandatory)
                .map(SpecField::name)
                .toList();
        if (!mandatory.isEmpty()) {
            mandatory.forEach(schema.putArray("required")::add);
        }
        return schema;
    }

    /** The form of a value that has this group of fields. */
    ValueForm<R> building(Function<SpecValues, R> build) {
        return new GroupForm<>(this, build);
    }

    /** A value of several fields. */
    record GroupForm<R>(SpecFields<R> group, Function<SpecValues, R> build) implements ValueForm<R> {
        @Override
        public String takes() {
            return group.takes();
        }

        @Override
        public R read(SourceValue value, ValuePlace place) {
            SpecValues values = group.read(value, place);
            try {
                return build.apply(values);
            } catch (IllegalArgumentException e) {
                throw place.bad("%s: %s. Change it.".formatted(place.path(), e.getMessage()));
            }
        }

        @Override
        public JsonNode write(R value) {
            return group.write(value);
        }

        @Override
        public ObjectNode schema() {
            return group.schema();
        }
    }
}
