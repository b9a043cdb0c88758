package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** How files have values of a type. */
interface ValueForm<V> {
    /** The allowed values, for people: {@code a length of time such as 30s}. */
    String takes();

    /**
     * Reads a value.
     *
     * @throws io.lendstream.launcher.cli.UserError if it is not allowed
     */
    V read(SourceValue value, ValuePlace place);

    /** The value as files have it. */
    JsonNode write(V value);

    /** The JSON Schema of the values. */
    ObjectNode schema();
}
