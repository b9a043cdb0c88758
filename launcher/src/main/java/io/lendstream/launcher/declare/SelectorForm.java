package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.AdoptionSelector;
import java.util.Map;

/** A selector: a pattern for each attribute. */
final class SelectorForm implements ValueForm<AdoptionSelector> {
    private static final MapForm<String> PATTERNS = new MapForm<>(ScalarForms.text());

    @Override
    public String takes() {
        return "patterns by attribute, such as command: '*train.py*'";
    }

    @Override
    public AdoptionSelector read(SourceValue value, ValuePlace place) {
        Map<String, String> patterns = PATTERNS.read(value, place);
        try {
            return new AdoptionSelector(patterns);
        } catch (IllegalArgumentException e) {
            throw place.bad("%s: %s. Add one that others do not match.".formatted(place.path(), e.getMessage()));
        }
    }

    @Override
    public JsonNode write(AdoptionSelector selector) {
        return PATTERNS.write(selector.patterns());
    }

    @Override
    public ObjectNode schema() {
        ObjectNode schema = PATTERNS.schema();
        schema.put("minProperties", 1);
        return schema;
    }
}
