package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A field of a declaration: the one place for its name, its form, its default and its description.
 *
 * @param otherwise the value without the field; empty for a field without a default
 * @param from the value in a record
 * @param doc a sentence for reference pages and editors
 */
record SpecField<R, V>(
        String name,
        ValueForm<V> form,
        boolean isMandatory,
        Optional<V> otherwise,
        Function<R, Optional<V>> from,
        String doc) {

    /** A field that each object has. */
    static <R, V> SpecField<R, V> mandatory(String name, ValueForm<V> form, Function<R, V> from, String doc) {
        return new SpecField<>(name, form, true, Optional.empty(), from.andThen(Optional::of), doc);
    }

    /** A field that may be left out, and then has no value. */
    static <R, V> SpecField<R, V> optional(String name, ValueForm<V> form, Function<R, Optional<V>> from, String doc) {
        return new SpecField<>(name, form, false, Optional.empty(), from, doc);
    }

    /** A field that may be left out, and then has a default. */
    static <R, V> SpecField<R, V> defaulted(
            String name, ValueForm<V> form, V otherwise, Function<R, V> from, String doc) {
        return new SpecField<>(name, form, false, Optional.of(otherwise), from.andThen(Optional::of), doc);
    }

    /** A list that may be left out, and then is empty. */
    static <R, V> SpecField<R, List<V>> list(String name, ValueForm<V> item, Function<R, List<V>> from, String doc) {
        return defaulted(name, new ListForm<>(item), List.of(), from, doc);
    }

    /** Values by name that may be left out, and then are none. */
    static <R, V> SpecField<R, Map<String, V>> map(
            String name, ValueForm<V> value, Function<R, Map<String, V>> from, String doc) {
        return defaulted(name, new MapForm<>(value), Map.of(), from, doc);
    }

    void read(SourceValue.Fields source, ValuePlace place, Map<String, Object> values) {
        SourceValue value = source.values().get(name);
        if (value != null) {
            values.put(name, form.read(value, place.field(name, value).withWayOut(wayOut())));
        } else if (isMandatory) {
            throw place.missing(name, form.takes());
        } else {
            otherwise.ifPresent(usual -> values.put(name, usual));
        }
    }

    private String wayOut() {
        if (isMandatory) {
            return "Change it.";
        }
        String usual = shownDefault();
        return usual.isEmpty() ? "Change it, or leave it out." : "Change it, or leave it out for %s.".formatted(usual);
    }

    /** The default as a file has it; empty without one, and for an empty list. */
    String shownDefault() {
        return otherwise
                .map(form::write)
                .filter(usual -> !usual.isContainerNode() || !usual.isEmpty())
                .map(usual -> usual.isContainerNode() ? usual.toString() : usual.asText())
                .orElse("");
    }

    /** Writes the value of a record, unless it is the default. */
    void write(R value, ObjectNode to) {
        from.apply(value)
                .filter(known -> otherwise.filter(known::equals).isEmpty())
                .ifPresent(known -> to.set(name, form.write(known)));
    }

    ObjectNode schema() {
        ObjectNode schema = form.schema();
        schema.put("description", doc);
        otherwise.map(form::write).ifPresent(usual -> schema.set("default", usual));
        return schema;
    }
}
