/**
 * A client of schema registries with Confluent's REST interface. It knows IDs, subjects and compatibility, but not
 * Kafka records.
 */
@NullMarked
package io.lendstream.schemas.registry;

import org.jspecify.annotations.NullMarked;
