package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A value that files have as one text or number.
 *
 * @param parse reads a text; empty if it is not an allowed value
 */
record ScalarForm<V>(
        String takes, Function<String, Optional<V>> parse, Function<V, JsonNode> text, Supplier<ObjectNode> described)
        implements ValueForm<V> {
    @Override
    public V read(SourceValue value, ValuePlace place) {
        Optional<V> read = value instanceof SourceValue.Scalar scalar
                ? parse.apply(scalar.text().strip())
                : Optional.empty();
        return read.orElseThrow(() -> place.mustBe(value, takes));
    }

    @Override
    public JsonNode write(V value) {
        return text.apply(value);
    }

    @Override
    public ObjectNode schema() {
        return described.get();
    }
}
