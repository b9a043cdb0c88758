/** Avro records as Kafka values in Confluent's wire format, configured with Confluent's property names. A site may name Confluent's own classes instead and nothing else changes. */
@NullMarked
package io.lendstream.schemas.serde;

import org.jspecify.annotations.NullMarked;
