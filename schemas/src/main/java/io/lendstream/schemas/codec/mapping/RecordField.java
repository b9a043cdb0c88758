package io.lendstream.schemas.codec.mapping;

/** The component of a record that a value is part of. */
record RecordField(Class<?> record, String component) {}
