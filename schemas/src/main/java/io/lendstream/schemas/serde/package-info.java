/**
 * Serializers of Avro records in Confluent's wire format, configured with Confluent's property names. A site may use
 * Confluent's own classes instead without other changes.
 */
@NullMarked
package io.lendstream.schemas.serde;

import org.jspecify.annotations.NullMarked;
