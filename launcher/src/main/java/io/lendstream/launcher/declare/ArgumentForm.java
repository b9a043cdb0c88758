package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Limits;

/** An entry of a command: any text, which also may be empty, and whose blanks count. */
final class ArgumentForm implements ValueForm<String> {
    @Override
    public String takes() {
        return "a text of at most %d characters".formatted(Limits.LONGEST_TEXT);
    }

    @Override
    public String read(SourceValue value, ValuePlace place) {
        if (value instanceof SourceValue.Scalar scalar && scalar.text().length() <= Limits.LONGEST_TEXT) {
            return scalar.text();
        }
        throw place.mustBe(value, takes());
    }

    @Override
    public JsonNode write(String value) {
        return JsonNodeFactory.instance.textNode(value);
    }

    @Override
    public ObjectNode schema() {
        return ScalarForms.typed("string").put("maxLength", Limits.LONGEST_TEXT);
    }
}
