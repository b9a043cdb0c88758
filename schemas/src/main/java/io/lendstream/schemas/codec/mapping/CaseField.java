package io.lendstream.schemas.codec.mapping;

/** The field of a case. */
record CaseField(String name, int position) {}
