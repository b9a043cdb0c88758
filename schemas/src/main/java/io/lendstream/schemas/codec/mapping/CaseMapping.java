package io.lendstream.schemas.codec.mapping;

import java.util.Optional;

/** A case of a union; one without components has no field. */
record CaseMapping(Object kind, Optional<CaseField> field, Mapping mapping) {}
