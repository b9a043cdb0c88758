package io.lendstream.schemas.codec.mapping;

/** A component of a record, and where its field is. */
record ComponentMapping(String path, int position, boolean optional, Mapping mapping) {}
