/**
 * The Flink job around {@code core}'s forecasts: request rates come in from Kafka, each service's forecaster is kept as
 * keyed state, demand quantiles go out with the record that completes a step. What nobody can read goes to the dead letters
 * with its origin, and the stream goes on.
 */
@NullMarked
package io.lendstream.forecaster;

import org.jspecify.annotations.NullMarked;
