package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Values of one form by names that the user chooses. */
record MapForm<V>(ValueForm<V> value) implements ValueForm<Map<String, V>> {
    @Override
    public String takes() {
        return "values by name, each " + value.takes();
    }

    @Override
    public Map<String, V> read(SourceValue source, ValuePlace place) {
        if (!(source instanceof SourceValue.Fields fields)) {
            throw place.mustBe(source, takes());
        }
        SortedMap<String, V> read = new TreeMap<>();
        ProblemList problems = new ProblemList();
        fields.values()
                .forEach((name, each) -> problems.attempt(() -> value.read(each, place.field(name, each)))
                        .ifPresent(known -> read.put(name, known)));
        problems.stop();
        return read;
    }

    @Override
    public JsonNode write(Map<String, V> values) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        new TreeMap<>(values).forEach((name, each) -> object.set(name, value.write(each)));
        return object;
    }

    @Override
    public ObjectNode schema() {
        ObjectNode schema = ScalarForms.typed("object");
        schema.set("additionalProperties", value.schema());
        return schema;
    }
}
