package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.QueueId;
import io.lendstream.schemas.topics.Topic;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A kind of object that files declare. */
interface DeclaredKind<T extends Event> {
    /** The version of all kinds. */
    String API_VERSION = "lendstream.io/v1";

    /** The kind in files, such as {@code TrainingJob}. */
    String name();

    /** The kind before the name of an object, as in {@code job/bert-1}. */
    String word();

    /** Its other names on the command line, in lower case. */
    List<String> spellings();

    /** A sentence for reference pages and editors. */
    String doc();

    Topic<T> topic();

    SpecFields<T> spec();

    /**
     * The record of an object.
     *
     * @param at when it is declared
     * @param before its newest record: what files do not have stays as it is
     * @throws IllegalArgumentException if the values do not go together
     */
    T build(ObjectName name, Instant at, SpecValues values, Optional<T> before);

    /** The name of an object. */
    String nameOf(T value);

    /** Its queue. */
    Optional<QueueId> queueOf(T value);

    /** Whether a record ends the declaration of an object, which still may have GPUs. */
    default boolean isRemoved(T value) {
        return false;
    }

    /** Whether an object is named like its domain, which files then leave out. */
    default boolean isNamedByDomain() {
        return false;
    }

    /** Why a field of the spec that is unknown cannot be declared, with the way out; empty without a special reason. */
    default Optional<String> againstField(String field) {
        return Optional.empty();
    }

    /** Its columns in tables, after name and domain. */
    List<Column<T>> columns();

    /** A column of a table. */
    record Column<T>(String title, boolean isWide, Function<T, String> text) {}

    /** An object as files have it, with its state, which {@code apply} leaves out. */
    default ObjectNode write(T value, Optional<String> state) {
        ObjectNode object = write(value);
        state.ifPresent(known -> object.putObject(DeclarationFile.STATUS).put("state", known));
        return object;
    }

    /** An object as files have it. */
    default ObjectNode write(T value) {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        object.put("apiVersion", API_VERSION).put("kind", name());
        object.putObject("metadata")
                .put("name", nameOf(value))
                .put("domain", value.domain().value());
        object.set("spec", spec().write(value));
        return object;
    }

    /** An object in messages, such as {@code job/bert-1}. */
    default String shown(String name) {
        return word() + "/" + name;
    }
}
