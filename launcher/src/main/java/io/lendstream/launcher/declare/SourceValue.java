package io.lendstream.launcher.declare;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A value in a file of declarations, with the line where it starts. */
sealed interface SourceValue {
    int line();

    /** The value in messages. */
    String shown();

    /** A text, a number, or true or false, as the file has it. */
    record Scalar(String text, int line) implements SourceValue {
        private static final int LONGEST_SHOWN = 60;

        @Override
        public String shown() {
            return "'%s'".formatted(text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + "..." : text);
        }
    }

    /** A list. */
    record Items(List<SourceValue> values, int line) implements SourceValue {
        public Items {
            values = List.copyOf(values);
        }

        @Override
        public String shown() {
            return "a list";
        }
    }

    /** Fields by name, in the order of the file. */
    record Fields(Map<String, SourceValue> values, int line) implements SourceValue {
        public Fields {
            values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        }

        @Override
        public String shown() {
            return "a group of fields";
        }
    }
}
