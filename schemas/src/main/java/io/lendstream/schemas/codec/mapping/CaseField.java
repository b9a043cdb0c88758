package io.lendstream.schemas.codec.mapping;

/** The field of a union case. */
record CaseField(String name, int position) {}
