/**
 * Converts core records to Avro records and back, by field name. A mismatch between a schema and a type is found when
 * a service starts, not when a record arrives.
 */
@NullMarked
package io.lendstream.schemas.codec;

import org.jspecify.annotations.NullMarked;
