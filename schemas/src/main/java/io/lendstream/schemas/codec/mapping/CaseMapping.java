package io.lendstream.schemas.codec.mapping;

import java.util.Optional;

/** Maps a union case; a case without components has no field. */
record CaseMapping(Object kind, Optional<CaseField> field, Mapping mapping) {}
