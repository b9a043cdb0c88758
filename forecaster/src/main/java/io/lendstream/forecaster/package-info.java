/**
 * The Flink job around {@code core}'s forecasts. It reads request rates from Kafka, keeps each service's forecaster
 * as keyed state, and publishes demand quantiles with the record that completes a step. Undecodable records go to the
 * dead letters with their origin.
 */
@NullMarked
package io.lendstream.forecaster;

import org.jspecify.annotations.NullMarked;
