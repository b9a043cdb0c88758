package io.lendstream.simulator.results;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import org.jspecify.annotations.Nullable;

/** How result files have text and numbers in JSON. */
final class Json {
    /** Numbers beyond this have no more digits to round. */
    private static final double ROUNDED_UP_TO = 1e12;

    private Json() {}

    /**
     * Writes a value a line. Other characters than those of ASCII are escaped: half of a surrogate pair has no UTF-8.
     */
    static ObjectMapper lines() {
        return JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    }

    /** The same with indents. */
    static ObjectMapper pages() {
        return lines().enable(SerializationFeature.INDENT_OUTPUT);
    }

    /** A number; null where it is not finite, for JSON has no such numbers. */
    static @Nullable Double finite(double value) {
        return Double.isFinite(value) ? value : null;
    }

    /**
     * A number to so many parts; null where it is not finite.
     *
     * @param parts of one, such as 1000 for three decimals
     */
    static @Nullable Double rounded(double value, double parts) {
        if (!Double.isFinite(value)) {
            return null;
        }
        return Math.abs(value) < ROUNDED_UP_TO ? Math.round(value * parts) / parts : value;
    }
}
