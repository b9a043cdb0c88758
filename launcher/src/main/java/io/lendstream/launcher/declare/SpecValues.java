package io.lendstream.launcher.declare;

import java.util.Map;
import java.util.Optional;

/** The values of a group of fields, as a file has them; defaults stand for fields that it leaves out. */
final class SpecValues {
    private final Map<String, Object> values;

    SpecValues(Map<String, Object> values) {
        this.values = Map.copyOf(values);
    }

    /** The value of a field that is mandatory or has a default. */
    <V> V get(SpecField<?, V> field) {
        return find(field).orElseThrow(() -> new IllegalStateException(field.name() + " has no value"));
    }

    /** The value of a field, if there is one. */
    @SuppressWarnings("unchecked") // SpecField.read puts a value of V under the name of a SpecField of V
    <V> Optional<V> find(SpecField<?, V> field) {
        return Optional.ofNullable((V) values.get(field.name()));
    }
}
