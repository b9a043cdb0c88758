/** Core records as Avro records and back, matched by name. A schema and a type that do not fit each other are found when a service starts, not when a record arrives. */
@NullMarked
package io.lendstream.schemas.codec;

import org.jspecify.annotations.NullMarked;
