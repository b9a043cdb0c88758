/** A client of any registry that speaks Confluent's REST interface. It knows ids, subjects and compatibility, and nothing of Kafka records. */
@NullMarked
package io.lendstream.schemas.registry;

import org.jspecify.annotations.NullMarked;
