package io.lendstream.schemas.codec.mapping;

/** The record component that contains a value. */
record RecordField(Class<?> record, String component) {}
