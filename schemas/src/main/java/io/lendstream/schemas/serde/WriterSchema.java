package io.lendstream.schemas.serde;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/**
 * Checks writers' schemas for dangerous types. Writers choose their records' schemas, and readers skip unknown
 * fields. The time for this must be bounded by the size of the record, and the recursion by a thread's stack.
 */
final class WriterSchema {
    private final Set<String> checked = new HashSet<>();
    private final Set<String> around = new HashSet<>();
    private final Map<String, Boolean> takesNoBytes = new HashMap<>();

    private WriterSchema() {}

    /**
     * Checks a schema.
     *
     * @throws UndecodableRecordException if a record contains itself, or if values without bytes can be repeated
     */
    static void check(Schema schema) {
        new WriterSchema().checkAll(schema);
    }

    private void checkAll(Schema schema) {
        switch (schema.getType()) {
            case RECORD -> checkFields(schema);
            case ARRAY -> {
                checkAll(schema.getElementType());
                if (takesNoBytes(schema.getElementType())) {
                    throw new UndecodableRecordException(
                            "its schema has an array whose entries take no bytes; write it with a schema without that array",
                            null);
                }
            }
            case MAP -> checkAll(schema.getValueType());
            case UNION -> schema.getTypes().forEach(this::checkAll);
            default -> {}
        }
    }

    private void checkFields(Schema schema) {
        String name = schema.getFullName();
        if (checked.contains(name)) {
            return;
        }
        if (!around.add(name)) {
            throw new UndecodableRecordException(
                    "its schema has a record %s that contains itself; write it with a schema without that record"
                            .formatted(name),
                    null);
        }
        for (Schema.Field field : schema.getFields()) {
            checkAll(field.schema());
            if (field.schema().getType() == Schema.Type.RECORD && takesNoBytes(field.schema())) {
                throw new UndecodableRecordException(
                        "its schema has a field %s.%s that takes no bytes; write it with a schema without that field"
                                .formatted(name, field.name()),
                        null);
            }
        }
        around.remove(name);
        checked.add(name);
    }

    /** Only for checked schemas, in which no record contains itself. */
    private boolean takesNoBytes(Schema schema) {
        return switch (schema.getType()) {
            case NULL -> true;
            case FIXED -> schema.getFixedSize() == 0;
            case RECORD -> recordTakesNoBytes(schema);
            default -> false;
        };
    }

    private boolean recordTakesNoBytes(Schema schema) {
        Boolean known = takesNoBytes.get(schema.getFullName());
        if (known == null) {
            known = schema.getFields().stream().allMatch(field -> takesNoBytes(field.schema()));
            takesNoBytes.put(schema.getFullName(), known);
        }
        return known;
    }
}
