package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** A list of values of one form. */
record ListForm<V>(ValueForm<V> item) implements ValueForm<List<V>> {
    @Override
    public String takes() {
        return "a list, each item " + item.takes();
    }

    @Override
    public List<V> read(SourceValue value, ValuePlace place) {
        if (!(value instanceof SourceValue.Items items)) {
            throw place.mustBe(value, takes());
        }
        List<V> read = new ArrayList<>();
        ProblemList problems = new ProblemList();
        for (int i = 0; i < items.values().size(); i++) {
            SourceValue each = items.values().get(i);
            ValuePlace at = place.item(i, each);
            problems.attempt(() -> item.read(each, at)).ifPresent(read::add);
        }
        problems.stop();
        return read;
    }

    @Override
    public JsonNode write(List<V> values) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        values.forEach(value -> array.add(item.write(value)));
        return array;
    }

    @Override
    public ObjectNode schema() {
        ObjectNode schema = ScalarForms.typed("array");
        schema.set("items", item.schema());
        return schema;
    }
}
